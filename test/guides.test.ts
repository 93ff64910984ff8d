// What the guides for operators say is true: figures are those of the benchmarks, and the messages, reasons and metrics they name
// are in the program. test/e2e/readme.test.ts runs commands.

import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { repository } from "./harness/polyplane.ts"

interface Result {
  lines: { what: string; value: number; unit: string; compared?: { value: number } }[]
}

/** Results vary between runs, and a reader plans with more than a few per cent. */
const tolerance = 0.3

const read = (file: string) => readFileSync(path.join(repository, file), "utf8")
const row = /^\| (.*?) \| ([\d.,]+) (\S+) \| (\w+): `([^`]+)`(, compared)? \|$/gm
const rows = [...read("docs/guides/sizing.md").matchAll(row)]

describe("sizing.md", () => {
  test("the table has figures", () => {
    expect(rows.length).toBeGreaterThan(10)
  })

  test.each(
    rows.map(([, figure, value, unit, bench, what, compared]) => ({ figure, value, unit, bench, what, compared })),
  )("$figure: $value $unit", ({ value = "", unit, bench, what, compared }) => {
    const { lines } = JSON.parse(read(`bench/results/${bench}.json`)) as Result
    const line = lines.find((each) => each.what === what)
    expect(line?.unit).toBe(unit)
    const measured = (compared === undefined ? line?.value : line?.compared?.value) ?? NaN
    const stated = Number(value.replaceAll(",", ""))
    expect(Math.abs(stated - measured) / measured, `measured ${measured}`).toBeLessThan(tolerance)
  })
})

const folders = ["cli", "client", "controllers", "gateway", "operator", "storage", "syncer", "vn-agent"]
const program = folders
  .flatMap((folder) =>
    readdirSync(path.join(repository, folder), { recursive: true, encoding: "utf8" }).map((file) =>
      path.join(folder, file),
    ),
  )
  .filter((file) => /\.(ts|mjs)$/.test(file) && !/test|testing/.test(file))
  .map(read)
  .join("\n")

/** What the first column of the tables of a section quotes. */
function quoted(document: string, section: string): string[] {
  const [, text = ""] = read(document).split(`\n## ${section}\n`)
  return [...(text.split("\n## ")[0] ?? "").matchAll(/^\| ((?:`[^`]+`(?:, | \/ )?)+)/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, words = ""]) => words),
  )
}

describe("troubleshooting.md", () => {
  const document = "docs/guides/troubleshooting.md"
  const messages = [...quoted(document, "At the start"), ...quoted(document, "A VirtualCluster that is not Running")]

  test("quotes messages and reasons", () => {
    expect(messages.length).toBeGreaterThan(12)
  })

  test.each(messages.filter((message) => message !== "starting ("))("%s", (message) => {
    // The sentences may be separate texts in the program, and versions are values there.
    for (const sentence of message.replace("Node 24 ", "").split(". "))
      expect(program.includes(sentence), sentence).toBe(true)
  })
})

describe("monitoring.md", () => {
  const rules = read("docs/guides/monitoring.md").match(/expr: .*/g) ?? []
  const inRules = rules.flatMap((rule) => rule.match(/\b[a-z]+_[a-z_]+/g) ?? [])
  const inTable = quoted("docs/guides/monitoring.md", "What to alert on").flatMap(
    (cell) => cell.match(/\b[a-z]+_[a-z_]+/g) ?? [],
  )
  const metrics = [...new Set([...inTable, ...inRules])]

  test("names metrics", () => {
    expect(metrics.length).toBeGreaterThan(10)
  })

  test.each(metrics)("%s", (metric) => {
    // Names of queues are put together.
    const name = metric.replace(/_(sum|count)$/, "").replace(/^workqueue_/, "")
    expect(program).toMatch(new RegExp(`["\`]${name}["\`]`))
  })
})
