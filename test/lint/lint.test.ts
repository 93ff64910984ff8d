// Verifies that `npm run lint` finds violations of this project's rules in each of the forms in which they are written.

import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { run } from "../harness/processes.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const raw = "String.raw`"

/** Of each rule, what it tells of and what not: each is the rest of a declaration. */
const rules: Record<string, { wrong: readonly string[]; right: readonly string[] }> = {
  "linear-regular-expressions": {
    wrong: [
      String.raw`/^(a+)+$/`,
      String.raw`/^\d+(?:\d+)?x/`,
      String.raw`/\s+$/`,
      String.raw`/x*y/g`,
      'new RegExp("(?:a|ba+)+$")',
      `new RegExp(${raw}^(?:\\d+)?\\d+x\`, "u")`,
      "RegExp(`^${part}(?:${part})?x$`, flags)",
    ].map(asValue),
    right: [
      String.raw`/^(a|b)+$/`,
      String.raw`/\s+/g`,
      String.raw`/(?<!\s)\s+$/`,
      String.raw`/x*y/y`,
      "new RegExp(`^${part}x$`)",
      "new RegExp(process.argv[1] ?? flags)",
    ].map(asValue),
  },
  "own-names": {
    wrong: ["part in process.env", "[part].filter((name) => !(name in process.env))"].map(asValue),
    right: ['"HOME" in process.env', "Object.hasOwn(process.env, part)"].map(asValue),
  },
  dictionaries: {
    wrong: [
      ": Record<string, number> = { h: 1 }",
      ": Record<string, string> = { ...named }",
      ": Readonly<Record<string, string>> = { [part]: part }",
      " = (): unknown => { const units: Readonly<Record<string, number>> = { h: 1 }; return units }",
    ],
    right: [
      ": Record<string, number> = {}",
      ": Record<string, string> = Object.assign({}, named)",
      " = (): unknown => { const body: Record<string, number> = { h: 1 }; return body }",
    ],
  },
  "young-functions": {
    wrong: [
      " = (): unknown => { const one: { f?: unknown } = {}; one.f = () => one; return one }",
      " = (): unknown => { const one: { f?: unknown } = {}; one.f ??= function () {}; return one }",
      " = class { #f: unknown; constructor() { this.#f = () => this }; get f() { return this.#f } }",
    ],
    right: [
      " = (): unknown => { const one: { f?: unknown } = {}; const f = () => one; one.f = f; return one }",
      " = (): unknown => ({ f: () => part, g() { return 2 } })",
      " = class { f = () => this }",
      ': { f?: unknown } = {}; process.title = "x"',
    ],
  },
}

function asValue(expression: string): string {
  return ` = ${expression}`
}

const head = [`const part = ${raw}\\d+\``, 'export const flags = "g"', 'const named = { a: "b" }', "export { named }"]

test.each(Object.entries(rules))("%s: only violations are reported", async (rule, { wrong, right }) => {
  const folder = await mkdtemp(path.join(tmpdir(), "polyplane-lint-"))
  try {
    const lines = [...head, ...[...wrong, ...right].map((rest, index) => `export const e${index}${rest}`)]
    await writeFile(path.join(folder, "declarations.ts"), lines.join("\n"))
    const config = ["--config", path.join(root, ".oxlintrc.json"), "--format", "unix"]
    const { stdout } = await run(path.join(root, "node_modules/.bin/oxlint"), [...config, folder])
    const told = [...stdout.matchAll(/declarations\.ts:(\d+):/g)].map(([, line]) => lines[Number(line) - 1])
    expect([...new Set(told)]).toEqual(lines.slice(head.length, head.length + wrong.length))
    expect(stdout).toContain(rule)
  } finally {
    await rm(folder, { recursive: true })
  }
})
