// The last lines of .ci/run from what its steps have left: vitest's reports, the conformance suite's summary, the steps that failed.
//   node counts.mjs DIRECTORY          what failed, and the counts; exits with 1 when anything failed
//   node counts.mjs --failed REPORT    what failed in a vitest report and runs once more, a file per line: FILE, or
//                                      FILE, a tab and a pattern of the names of tests; nothing when it is too much

import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"

/** More than these are no accident: they do not run once more. */
const mostFiles = 8
/** If more tests of a file failed, all of it runs once more. */
const mostTests = 20
/** The tag of tests that need none of the others in their file (vitest.kubernetes.config.ts). */
const independent = "independent"

const readJSON = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined)

/** By file. */
function resultsOf(report) {
  return new Map((report?.testResults ?? []).map((result) => [relative(process.cwd(), result.name), result]))
}

const hasFailed = ({ status }) => status === "failed"
const hasRun = ({ status }) => status === "passed" || status === "failed"

/** A file that failed although none of its tests did could not be loaded, or set up. */
function linesOfFailed(file) {
  const failed = [...resultsOf(readJSON(file))].filter(([, result]) => hasFailed(result))
  if (failed.length > mostFiles) return []
  return failed.map(([name, { assertionResults }]) => {
    const tests = assertionResults.filter(hasFailed)
    const areEnough = tests.length > 0 && tests.length <= mostTests
    if (!areEnough || !tests.every(({ tags = [] }) => tags.includes(independent))) return name
    return `${name}\t^(${tests.map(patternOf).join("|")})$`
  })
}

/** Of the name that vitest compares. Letters suffice to find it, and need no quotes. */
function patternOf({ ancestorTitles, title }) {
  return [...ancestorTitles, title].join(" > ").replaceAll(/[^\w ]/g, ".")
}

/** Of the tests that ran once more, what became of them then. */
function merge(first, again) {
  const before = first?.assertionResults ?? []
  const after = again?.assertionResults ?? []
  if (before.length !== after.length) return again ?? first
  const assertionResults = before.map((test, index) => (hasRun(after[index]) ? after[index] : test))
  return { ...again, assertionResults }
}

/** A file that failed although none of its tests did counts as one failure. */
function countOf(result) {
  const count = { passed: 0, failed: 0, skipped: 0 }
  for (const { status } of result.assertionResults) count[Object.hasOwn(count, status) ? status : "skipped"]++
  if (hasFailed(result) && count.failed === 0) count.failed = 1
  return count
}

/** Of a test, or of a file that failed although none of its tests did. */
function sayFailed(file, { assertionResults, message }) {
  const tests = assertionResults.filter(hasFailed)
  for (const { fullName, failureMessages } of tests)
    console.log(`failed: ${file}: ${fullName}\n${beginningOf(failureMessages.join("\n"))}`)
  if (tests.length === 0) console.log(`failed: ${file}, outside of its tests\n${beginningOf(message ?? "")}`)
}

const beginningOf = (text) => text.split("\n", 20).join("\n").slice(0, 2_000)

/** By name of its report, what vitest found. */
function countReport(directory, name) {
  const results = resultsOf(readJSON(join(directory, `${name}.json`)))
  const reports = readdirSync(directory).filter((file) => file.startsWith(`${name}-again`) && file.endsWith(".json"))
  const again = new Map(reports.flatMap((file) => [...resultsOf(readJSON(join(directory, file)))]))
  for (const [file, result] of again) results.set(file, merge(results.get(file), result))
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const [file, result] of results) {
    const count = countOf(result)
    for (const outcome of Object.keys(total)) total[outcome] += count[outcome]
    if (count.failed > 0) sayFailed(file, result)
    else if (again.has(file)) console.log(`failed once, and passed then: ${file}`)
  }
  const end = join(directory, `${name}.failed`)
  if (total.failed === 0 && existsSync(end)) {
    // The run failed, and no test says so: an error outside of tests.
    total.failed = 1
    console.log(`failed: ${name}, outside of its tests; it ended with\n${readFileSync(end, "utf8")}`)
  }
  return total
}

function countAll(directory) {
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const name of ["tests", "disk", "comparison", "field"]) {
    const count = countReport(directory, name)
    for (const outcome of Object.keys(total)) total[outcome] += count[outcome]
  }
  for (const { outcome } of readJSON(join(directory, "conformance", "summary.json")) ?? []) {
    total[outcome === "passed" ? "passed" : "failed"]++
  }
  for (const step of linesOf(join(directory, "steps.failed"))) {
    console.log(`failed: ${step}`)
    total.failed++
  }
  if (total.passed === 0) total.failed = Math.max(1, total.failed)
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
  return total.failed === 0 ? 0 : 1
}

const linesOf = (file) => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [])

const [first, second] = process.argv.slice(2)
if (first === "--failed") for (const line of linesOfFailed(second)) console.log(line)
else process.exitCode = countAll(first)
