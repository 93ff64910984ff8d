// That `npm run lint` finds expressions that go back and forth, in each of the forms in which they are written.

import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { run } from "../harness/processes.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const raw = "String.raw`"

const slow = [
  String.raw`/^(a+)+$/`,
  String.raw`/^\d+(?:\d+)?x/`,
  String.raw`/\s+$/`,
  String.raw`/x*y/g`,
  'new RegExp("(?:a|ba+)+$")',
  `new RegExp(${raw}^(?:\\d+)?\\d+x\`, "u")`,
  "RegExp(`^${part}(?:${part})?x$`, flags)",
]
const linear = [
  String.raw`/^(a|b)+$/`,
  String.raw`/\s+/g`,
  String.raw`/(?<!\s)\s+$/`,
  String.raw`/x*y/y`,
  "new RegExp(`^${part}x$`)",
  "new RegExp(process.argv[1] ?? flags)",
]

test("expressions that may take the square of a text's length are told, and no others", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "polyplane-lint-"))
  try {
    const head = [`const part = ${raw}\\d+\``, 'export const flags = "g"']
    const lines = [
      ...head,
      ...[...slow, ...linear].map((expression, index) => `export const e${index} = ${expression}`),
    ]
    await writeFile(path.join(folder, "expressions.ts"), lines.join("\n"))
    const config = ["--config", path.join(root, ".oxlintrc.json"), "--format", "unix"]
    const { stdout } = await run(path.join(root, "node_modules/.bin/oxlint"), [...config, folder])
    const told = [...stdout.matchAll(/expressions\.ts:(\d+):/g)].map(([, line]) => lines[Number(line) - 1])
    expect([...new Set(told)]).toEqual(lines.slice(head.length, head.length + slow.length))
    expect(stdout).toContain("linear-regular-expressions")
  } finally {
    await rm(folder, { recursive: true })
  }
})
