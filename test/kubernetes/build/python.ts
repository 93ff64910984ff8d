// The Python client: a virtual environment in the cache with the packages pinned by clients/python/requirements.txt.

import { copyFile, readFile, rm } from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { succeed } from "../../harness/processes.ts"
import { cacheFolder } from "./cache.ts"
import { UnavailableError } from "./unavailable.ts"

const requirements = fileURLToPath(new URL("../clients/python/requirements.txt", import.meta.url))
const installTimeoutMs = 10 * 60_000

const environment = (): string => path.join(cacheFolder(), "python")
/** Records what was installed: written last. */
const installed = (): string => path.join(environment(), "requirements.txt")

/** The interpreter of the virtual environment. */
export const pythonPath = (): string => path.join(environment(), "bin", "python")

export async function isPythonInstalled(): Promise<boolean> {
  try {
    return (await readFile(installed(), "utf8")) === (await readFile(requirements, "utf8"))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false
    throw error
  }
}

export async function installPython(): Promise<void> {
  await rm(environment(), { recursive: true, force: true })
  try {
    await succeed("python3", ["-m", "venv", environment()], { timeoutMs: installTimeoutMs })
    await succeed(pythonPath(), pip(), { timeoutMs: installTimeoutMs })
  } catch (cause) {
    throw new UnavailableError("python3 with venv and pip, and the packages' index, are needed", { cause })
  }
  await copyFile(requirements, installed())
}

function pip(): string[] {
  const options = "--quiet --disable-pip-version-check --no-deps --requirement".split(" ")
  return ["-m", "pip", "install", ...options, requirements]
}
