// Location of the built real components: outside the repository, by Kubernetes release. `npm run kubernetes:build` stores
// programs there, tests look them up here.

import { access, constants } from "node:fs/promises"
import { accessSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"

/** The release used for all comparisons; modules/kubernetes/go.mod contains the same one (build.test.ts). */
export const kubernetesVersion = "v1.36.3"

/** Can be overridden by POLYPLANE_CACHE. */
export function cacheFolder(): string {
  const root = process.env["POLYPLANE_CACHE"] ?? path.join(homedir(), ".cache", "polyplane")
  return path.join(root, "kubernetes", kubernetesVersion)
}

export function binaryPath(name: string): string {
  return path.join(cacheFolder(), "bin", name)
}

/** Path of a built program; if it was not built, the error says what to run. */
export async function binary(name: string): Promise<string> {
  const file = binaryPath(name)
  try {
    await access(file, constants.X_OK)
    return file
  } catch (cause) {
    throw new Error(`${name} is not built: ${howToBuild}`, { cause })
  }
}

/** The reason for skipping a suite; undefined if all programs are available. */
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
    return false // absent or not executable: in both cases it has to be built
  }
}
