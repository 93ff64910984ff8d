import { expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { createRandom, pick } from "../../testing/random.ts"
import { convertYaml } from "./convert.ts"
import { printYaml } from "./print.ts"

const words = ["yes", "No", "on", "off", "y", "N", "~", "", "1_000", "0b1", "0o7", "017", "1:30:20", ".5", "="]
const texts = [...words, "2001-01-01", "2001-12-14t21:59:43Z", "- a", "a: b", "a #b", "a\nb\n", "\na", " a", "a\r\nb"]
const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
const odd = [...characters, "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ud7ff", "\ue000", "\u{1f600}"]

const read = (value: Json): unknown => {
  const outcome = convertYaml(printYaml(value))
  return "json" in outcome ? JSON.parse(outcome.json) : outcome
}

test("Kubernetes reads the texts that are printed", () => {
  const within = odd.flatMap((one) => [one, `a${one}`, `${one}a`, `a${one}b`, `a\n${one}b\n`])
  for (const text of [...texts, ...within]) {
    const value = { a: text, b: [text, { [text]: text }] }
    expect(read(value)).toEqual(value)
  }
})

test("Kubernetes reads texts by chance", () => {
  const parts = [" ", "a", "\n", ":", "#", "-", "'", '"', "\t", "\\", "1", "?", "{", "[", "|", ",", "!", "&", "\u0085"]
  const random = createRandom(1)
  for (let count = 0; count < 2000; count++) {
    const text = Array.from({ length: 1 + random(100) }, () => pick(random, parts)).join("")
    expect(read({ [text]: [text] })).toEqual({ [text]: [text] })
  }
})

test.each([
  [{ b: [1, [2, { c: 3, a: [] }]], a: { "": {} } }, 'a:\n  "": {}\nb:\n- 1\n- - 2\n  - a: []\n    c: 3\n'],
  [{ a10: "a", a9: "b", "a-": "c", Z: null }, "Z: null\na-: c\na9: b\na10: a\n"],
  [{ a: "it's: x", b: "- a", c: "yes", d: "it's" }, "a: 'it''s: x'\nb: '- a'\nc: \"yes\"\nd: it's\n"],
  [
    { a: "a\nb", b: "a\n", c: " a\n\n", d: "a \nb", e: "\n" },
    'a: |-\n  a\n  b\nb: |\n  a\nc: |2+\n   a\n\nd: "a \\nb"\ne: |2+\n\n',
  ],
  [{ a: `${"word ".repeat(18)}` }, `a: '${"word ".repeat(16).trimEnd()}\n  word word '\n`],
  [{ a: `\t${"a  b ".repeat(20)}` }, `a: "\\t${"a  b ".repeat(15)}a\n  \\ b ${"a  b ".repeat(4)}"\n`],
  [{ a: "\0\u{1f600}\u2028ä" }, 'a: "\\0\\U0001F600\\Lä"\n'],
  [{ ["k".repeat(129)]: [1], "a\nb": { c: 1 } }, `? |-\n  a\n  b\n: c: 1\n? ${"k".repeat(129)}\n: - 1\n`],
  [
    { a: [1e21, 1e20, 18446744073709551615n, 1234567.5, 0.00001] },
    "a:\n- 1e+21\n- 1e+20\n- 18446744073709551615\n- 1.2345675e+06\n- 1e-05\n",
  ],
])("%j is printed as by Kubernetes", (value, text) => {
  expect(printYaml(value as Json).toString()).toBe(text)
})

test("what other readers take for times or numbers of base 60 is quoted", () => {
  expect(printYaml({ a: "2001-01-01", b: "10:30:20", c: "10.96.0.1", d: "v1" }).toString()).toBe(
    'a: "2001-01-01"\nb: "10:30:20"\nc: 10.96.0.1\nd: v1\n',
  )
})
