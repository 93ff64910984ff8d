// The last line of .ci/run from what its steps have left: vitest's reports and the conformance suite's summary.
//   node counts.mjs DIRECTORY FAILED-STEPS   exits with 1 when anything failed
//   node counts.mjs --failed REPORT          the files of a vitest report in which a test failed; none when they are many

import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

/** More than these are no accident: they do not run once more. */
const mostFiles = 8

const readJSON = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined)

/** By file: how many tests of each outcome. A file that failed although none of its tests did (it could not be loaded, or set up) counts as one failure. */
function resultsOf(report) {
  const results = new Map()
  for (const { name, status, assertionResults } of report?.testResults ?? []) {
    const count = { passed: 0, failed: 0, skipped: 0 }
    for (const test of assertionResults) count[Object.hasOwn(count, test.status) ? test.status : "skipped"]++
    if (status === "failed" && count.failed === 0) count.failed = 1
    results.set(relative(process.cwd(), name), count)
  }
  return results
}

function failedFiles(file) {
  const failed = [...resultsOf(readJSON(file))].filter(([, { failed }]) => failed > 0).map(([name]) => name)
  if (failed.length > 0 && failed.length <= mostFiles) console.log(failed.join("\n"))
}

function countAll(directory, failedSteps) {
  const total = { passed: 0, failed: failedSteps, skipped: 0 }
  for (const name of ["tests", "disk", "kubernetes"]) {
    const first = resultsOf(readJSON(join(directory, `${name}.json`)))
    const again = resultsOf(readJSON(join(directory, `${name}-again.json`)))
    let failed = 0
    for (const [file, count] of new Map([...first, ...again])) {
      total.passed += count.passed
      total.skipped += count.skipped
      failed += count.failed
      if (again.has(file) && count.failed === 0) console.log(`failed once, and passed then: ${file}`)
    }
    // The run failed, and no test says so: an error outside of tests.
    if (failed === 0 && existsSync(join(directory, `${name}.failed`))) failed = 1
    total.failed += failed
  }
  for (const { outcome } of readJSON(join(directory, "conformance", "summary.json")) ?? []) {
    total[outcome === "passed" ? "passed" : "failed"]++
  }
  if (total.passed === 0) total.failed = Math.max(1, total.failed)
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  return total.failed === 0 ? 0 : 1
}

const [first, second] = process.argv.slice(2)
if (first === "--failed") failedFiles(second)
else process.exitCode = countAll(first, Number(second))
