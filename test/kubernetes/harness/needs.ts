// Determines whether a suite can run here. Use: describe.skipIf(lacks(TestKubernetes.binaries(options)))("…", …)

import { missingBinaries } from "../build/cache.ts"

/** Prints the reason in one line if something is missing. `other`: another missing requirement of the suite. */
export function lacks(binaries: readonly string[], other?: string): boolean {
  const missing = missingBinaries(binaries) ?? other
  if (missing !== undefined) console.log(`skipped: ${missing}`)
  return missing !== undefined
}
