// Where the real components lie once they are built: outside the repository, keyed by the Kubernetes release. Tests ask here
// for a program; `npm run kubernetes:build` puts it there.

import { access, constants } from "node:fs/promises"
import { accessSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"

/** The release everything here is compared with; modules/kubernetes/go.mod names the same one (build.test.ts). */
export const kubernetesVersion = "v1.36.3"

/** POLYPLANE_CACHE moves it. */
export function cacheFolder(): string {
  const root = process.env["POLYPLANE_CACHE"] ?? path.join(homedir(), ".cache", "polyplane")
  return path.join(root, "kubernetes", kubernetesVersion)
}

export function binaryPath(name: string): string {
  return path.join(cacheFolder(), "bin", name)
}

/** Path of a program of ours; an error that says what to run when it was never built. */
export async function binary(name: string): Promise<string> {
  const file = binaryPath(name)
  try {
    await access(file, constants.X_OK)
    return file
  } catch (cause) {
    throw new Error(`${name} is not built: ${howToBuild}`, { cause })
  }
}

/** The one line that says why a suite is skipped; undefined when all programs are there. */
export function missingBinaries(names: readonly string[]): string | undefined {
  const missing = names.filter((name) => !isExecutable(binaryPath(name)))
  return missing.length === 0 ? undefined : `${missing.join(", ")} not built: ${howToBuild}`
}

const howToBuild = "`npm run kubernetes:build` makes it (it needs Go)"

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false // absent, or not ours to run: both mean that it has to be built
  }
}
