// What the documents for operators say is true: figures are those of the benchmarks, limits those of the program, and the messages,
// reasons, metrics and settings they name are in the program. test/e2e/readme.test.ts runs commands.

import { readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import { controllerNames } from "../controllers/main.ts"
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

test("controllers.md lists the controllers", () => {
  const [, table = ""] = read("docs/controllers.md").split("\n|---|---|---|\n")
  const rows = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (.*?) \| (.*?) \| /gm)]
  const counterparts = rows.flatMap(([, upstream = "", ours = ""]) =>
    (/^same\b/.test(ours) ? upstream : ours).split(", "),
  )
  const listed = counterparts.filter((name) => name !== "–" && !name.startsWith("gateway/"))
  expect([...new Set(listed)].sort()).toEqual([...controllerNames].sort())
})

const scales: Record<string, number> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  million: 1e6,
  s: 1000,
  minutes: 60_000,
  h: 3_600_000,
}

/** The values of numbers, products and sums of them in a source, as far as they are written in it. */
function valuesIn(source: string): Set<number> {
  const values = new Set<number>()
  const factor = String.raw`(?:\d[\d_]*(?:\.\d+)?|KiB|MiB)`
  const product = String.raw`${factor}(?: \* ${factor})*`
  const valueOf = (text: string): number =>
    text.split(" * ").reduce((value, each) => {
      const next = value * (scales[each] ?? Number(each.replaceAll("_", "")))
      values.add(next)
      return next
    }, 1)
  for (const [sum] of source.matchAll(new RegExp(String.raw`(?<![\w.])${product}(?: \+ ${product})*`, "g")))
    values.add(sum.split(" + ").reduce((total, each) => total + valueOf(each), 0))
  for (const [, mebibytes] of source.matchAll(/(?:MiB: |space-size=)(\d+)/g)) values.add(Number(mebibytes) * 2 ** 20)
  return values
}

describe("the limits in ARCHITECTURE.md", () => {
  const [, section = ""] = read("ARCHITECTURE.md").split("\n## Limits\n")
  const limits = section.split("\n").flatMap((line) => {
    const [subject = "", where = "", text = ""] = line.replace(/^\| | \|$/g, "").split(" | ")
    return where.includes("`") ? [{ subject, where, text }] : []
  })

  /** The sources that a row names; a name without a folder is in that of the name before it. */
  function sourcesOf(row: string): string[] {
    let folder = ""
    return [...row.matchAll(/`([\w-]+(?:\/[\w.-]+)*\/?)(?:\.\w+)?`/g)].flatMap(([quoted]) => {
      const name = quoted.slice(1, -1)
      const file = name.includes("/") ? name : path.posix.join(folder, name)
      if (!/[/.]/.test(file) || statSync(path.join(repository, file), { throwIfNoEntry: false }) === undefined)
        return []
      folder = path.posix.dirname(file)
      if (!file.endsWith("/")) return [read(file)]
      const found = readdirSync(path.join(repository, file), { recursive: true, encoding: "utf8" })
      return found.filter((each) => /\.(ts|mjs)$/.test(each) && !/test/.test(each)).map((each) => read(file + each))
    })
  }

  test("there are some", () => {
    expect(limits.length).toBeGreaterThan(40)
  })

  test.each(limits)("$subject", ({ where, text }) => {
    const values = valuesIn(sourcesOf(`${where} ${text}`).join("\n"))
    // Without links, names, and codes of responses.
    const said = text.replaceAll(/`[^`]*`|\[[^[\]]*\]|\((?:[45]\d\d(?:, )?)+|with 503/g, "")
    const figures = said.matchAll(/(?<![\w./])(\d[\d,]*(?:\.\d+)?)(?: (KiB|MiB|GiB|million|s|minutes|h)\b)?/g)
    for (const [figure, digits = "", unit] of figures) {
      const number = Number(digits.replaceAll(",", ""))
      // Times are in seconds or in milliseconds.
      const possible =
        unit === "s" || unit === "minutes"
          ? [1, (scales[unit] ?? 1) / 1000, scales[unit] ?? 1]
          : [scales[unit ?? ""] ?? 1]
      expect(
        possible.some((scale) => values.has(number * scale)),
        figure,
      ).toBe(true)
    }
  })
})
