// The last lines of .ci/run: what failed, by name, and the counts, alone; its exit code; and what runs once more before it.

import { mkdir, readFile, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { repository } from "./harness/polyplane.ts"
import { run } from "./harness/processes.ts"

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "polyplane-counts-"))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A report of vitest's: outcomes by file. */
const report = (files: Record<string, string[]>, unprepared: string[] = []) => ({
  testResults: Object.entries(files).map(([name, outcomes]) => ({
    name: path.join(repository, name),
    status: unprepared.includes(name) || outcomes.includes("failed") ? "failed" : "passed",
    message: unprepared.includes(name) ? "no such module" : "",
    assertionResults: outcomes.map((status, index) => ({
      status,
      fullName: `test ${index}`,
      failureMessages: ["wrong"],
    })),
  })),
})

test.each<[string, Record<string, object | string>, string[]]>([
  [
    "all passed",
    { "tests.json": report({ a: ["passed", "passed"], b: ["skipped"] }) },
    ["2 passed, 0 failed, 1 skipped"],
  ],
  [
    "a test failed",
    { "tests.json": report({ a: ["passed", "failed"] }), "tests.failed": "Test Files 1 failed" },
    ["failed: a: test 1", "wrong", "1 passed, 1 failed, 0 skipped"],
  ],
  [
    "a file could not be loaded",
    { "tests.json": report({ a: ["passed"], b: [] }, ["b"]) },
    ["failed: b, outside of its tests", "no such module", "1 passed, 1 failed, 0 skipped"],
  ],
  [
    "what all tests of a file need failed",
    {
      "tests.json": report({ a: ["failed"], b: ["skipped"] }, ["b"]),
      "tests-again-0.json": report({ a: ["passed"] }),
    },
    [
      "failed once, and passed then: a",
      "failed: b, outside of its tests",
      "no such module",
      "1 passed, 1 failed, 1 skipped",
    ],
  ],
  [
    "steps before the tests failed",
    { "tests.json": report({ a: ["passed"] }), "steps.failed": "npm run lint\nnpm run types\n" },
    ["failed: npm run lint", "failed: npm run types", "1 passed, 2 failed, 0 skipped"],
  ],
  [
    "an error outside of tests",
    { "tests.json": report({ a: ["passed"] }), "tests.failed": "Unhandled Errors" },
    ["failed: tests, outside of its tests; it ended with", "Unhandled Errors", "1 passed, 1 failed, 0 skipped"],
  ],
  ["nothing ran", {}, ["0 passed, 1 failed, 0 skipped"]],
  [
    "what failed once passed then",
    {
      "tests.json": report({ a: ["passed"], b: ["failed"] }),
      "tests-again-0.json": report({ b: ["passed"] }),
      "tests-again-0.log": "Tests 1 passed",
    },
    ["failed once, and passed then: b", "2 passed, 0 failed, 0 skipped"],
  ],
  [
    "of what failed once, one failed again",
    {
      "tests.json": report({ a: ["passed", "failed", "failed"], b: ["failed"] }),
      "tests-again-0.json": report({ a: ["skipped", "passed", "failed"] }),
      "tests-again-1.json": report({ b: ["passed"] }),
    },
    ["failed: a: test 2", "wrong", "failed once, and passed then: b", "3 passed, 1 failed, 0 skipped"],
  ],
  [
    "what failed is skipped when it is to run once more",
    { "tests.json": report({ a: ["passed", "failed"] }), "tests-again-0.json": report({ a: ["skipped", "skipped"] }) },
    ["failed: a: test 1", "wrong", "1 passed, 1 failed, 0 skipped"],
  ],
  [
    "it failed twice, and of the conformance suite one spec did",
    {
      "tests.json": report({ a: ["failed"] }),
      "tests-again-0.json": report({ a: ["failed"] }),
      "tests.failed": "Test Files 1 failed",
      "conformance/summary.json": [{ outcome: "passed" }, { outcome: "failed" }],
    },
    ["failed: a: test 0", "wrong", "1 passed, 2 failed, 0 skipped"],
  ],
])("%s", async (_what, files, lines) => {
  await mkdir(path.join(directory, "conformance"))
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(directory, name), typeof content === "string" ? content : JSON.stringify(content))
  const counted = await run(process.execPath, [".ci/counts.mjs", directory], { cwd: repository })
  expect(counted.stdout.trimEnd().split("\n")).toEqual(lines)
  const code = lines.at(-1)?.includes(" 0 failed") ? 0 : 1
  expect(counted).toMatchObject({ code, stderr: "" })
})

const aTest = (title: string, status = "failed", tags = ["independent"]) => ({
  ancestorTitles: ["a suite"],
  title,
  status,
  tags,
})

test.each<[string, Record<string, object[]>, string[]]>([
  ["nothing", { a: [aTest("one", "passed")] }, []],
  [
    "only the tests that need no others",
    { a: [aTest("one (1)"), aTest("two", "passed")], b: [] },
    ["a\t^(a suite . one .1.)$", "b"],
  ],
  ["all of a file if one needs the others", { a: [aTest("one"), aTest("two", "failed", []), aTest("three")] }, ["a"]],
  ["all of a file of which much failed", { a: Array.from({ length: 21 }, () => aTest("one")) }, ["a"]],
  ["nothing if too much failed", Object.fromEntries(Array.from("abcdefghi", (name) => [name, [aTest("one")]])), []],
])("once more runs %s", async (_what, files, lines) => {
  const testResults = Object.entries(files).map(([name, assertionResults]) => {
    const isFine =
      assertionResults.length > 0 && assertionResults.every((each) => !JSON.stringify(each).includes("failed"))
    return { name: path.join(repository, name), status: isFine ? "passed" : "failed", assertionResults }
  })
  const file = path.join(directory, "tests.json")
  await writeFile(file, JSON.stringify({ testResults }))
  const { stdout } = await run(process.execPath, [".ci/counts.mjs", "--failed", file], { cwd: repository })
  expect(stdout.split("\n").slice(0, -1)).toEqual(lines)
})

test("once more runs what vitest finds by its pattern", async () => {
  const files = {
    "vitest.config.mjs": 'export default { test: { globals: true, tags: [{ name: "independent" }] } }',
    "a.test.mjs": `describe("a suite", () => {
      test.each([["fails (often)"], ["passes"]])("%s", { tags: "independent" }, (name) => expect(name).toBe("passes"))
    })`,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(directory, name), content)
  const vitest = async (name: string, ...args: string[]): Promise<string> => {
    const report = path.join(directory, name)
    const command = ["node_modules/vitest/vitest.mjs", "run", "--root", directory, "--reporter=json"]
    await run(process.execPath, [...command, `--outputFile=${report}`, ...args], { cwd: repository })
    return report
  }
  const report = await vitest("tests.json")
  const { stdout } = await run(process.execPath, [".ci/counts.mjs", "--failed", report], { cwd: repository })
  const [, pattern = ""] = stdout.trimEnd().split("\t")
  const again = await readFile(await vitest("tests-again-0.json", "-t", pattern), "utf8")
  const { numFailedTests, numPassedTests } = JSON.parse(again) as Record<string, number>
  expect({ numFailedTests, numPassedTests }).toEqual({ numFailedTests: 1, numPassedTests: 0 })
})
