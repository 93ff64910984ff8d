// Whether a suite can run here. Use: describe.skipIf(lacks(TestKubernetes.binaries(options)))("…", …)

import { missingBinaries } from "../build/cache.ts"

/** Prints the one line that says why, when something is missing. `other`: what else is missing, said by the suite. */
export function lacks(binaries: readonly string[], other?: string): boolean {
  const missing = missingBinaries(binaries) ?? other
  if (missing !== undefined) console.log(`skipped: ${missing}`)
  return missing !== undefined
}
