// The last line of .ci/run from what its steps have left: vitest's reports and the conformance suite's summary.
//   node counts.mjs DIRECTORY FAILED-STEPS
// Exits with 1 when anything failed, or when a report is missing that a step says it has failed to write.

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const [directory, failedSteps] = process.argv.slice(2)
const read = (name) => JSON.parse(readFileSync(join(directory, name), "utf8"))
const total = { passed: 0, failed: Number(failedSteps), skipped: 0 }

for (const name of ["tests", "kubernetes"]) {
  let failed = 0
  if (existsSync(join(directory, `${name}.json`))) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = read(`${name}.json`)
    // A file that could not be loaded counts as one failure.
    const unloaded = testResults.filter(
      ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
    ).length
    failed = numFailedTests + unloaded
    total.passed += numPassedTests
    total.skipped += numPendingTests + numTodoTests
  }
  // The run failed, and no test says so: an error outside of tests.
  if (failed === 0 && existsSync(join(directory, `${name}.failed`))) failed = 1
  total.failed += failed
}
if (existsSync(join(directory, "conformance", "summary.json"))) {
  for (const { outcome } of read("conformance/summary.json")) total[outcome === "passed" ? "passed" : "failed"]++
}
if (total.passed === 0) total.failed = Math.max(1, total.failed)
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exit(total.failed === 0 ? 0 : 1)
