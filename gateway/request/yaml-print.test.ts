import { expect, test } from "vitest"
import { createRandom, pick } from "../../apimachinery/testing/random.ts"
import { convertYaml } from "../../apimachinery/schema/yaml/convert.ts"
import { printYaml } from "./yaml-print.ts"

const words = ["yes", "No", "on", "off", "y", "N", "~", "", "1_000", "0b1", "0o7", "017", "1:30:20", ".5", "=", "<<"]
const texts = [...words, "2001-01-01", "2001-12-14t21:59:43Z", "- a", "a: b", "a #b", "a\nb\n", "\na", " a", "a\r\nb"]
const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code))
const odd = [...characters, "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ud7ff", "\ue000", "\u{1f600}"]

const read = (value: unknown): unknown => {
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

test("what other readers take for times or numbers of base 60 is quoted", () => {
  expect(printYaml({ a: "2001-01-01", b: "10:30:20", c: "10.96.0.1", d: "v1" }).toString()).toBe(
    'a: "2001-01-01"\nb: "10:30:20"\nc: 10.96.0.1\nd: v1\n',
  )
})
