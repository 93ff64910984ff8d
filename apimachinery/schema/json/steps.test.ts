import { describe, expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { atOnce, type Steps } from "../../steps.ts"
import { exactInteger } from "../exact-integers.ts"
import { countKeys } from "./survey.ts"
import { parsingPieces } from "./pieces.ts"
import { printingJson } from "./print.ts"

const manyKeys = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, `value ${index}`]))
const manyItems = (count: number): Json[] =>
  Array.from({ length: count }, (_, index) => ({ name: `n${index}`, value: { '"\\': [index, null, "}],{[ \\\\"] } }))
const nested = (inner: Json): Json => ({
  a: 1,
  list: [{}, [], { b: "x", inner, c: [inner, inner] }, 2],
  10: "z",
  e: {},
})

const large: Readonly<Record<string, Json>> = {
  "many keys": { kind: "A", data: manyKeys(20_000), last: true },
  "many items": { kind: "A", items: manyItems(10_000), last: true },
  "a list of lists": [manyItems(3000), manyItems(3000), [manyItems(3000)]],
  "a long value below many short ones": nested(manyItems(3000)),
  "names of prototype properties": { x: manyItems(2000), ["__proto__"]: manyKeys(5000), toString: manyItems(2000) },
  "long texts": { a: "x".repeat(100_000), b: ["\\".repeat(50_001), '"'.repeat(50_000)], c: manyKeys(5000) },
}
const small: Readonly<Record<string, Json>> = { object: nested(1), list: [], text: "a", null: null }

function stepsOf<T>(steps: Steps<T>): number {
  let count = 1
  while (steps.next().done !== true) count++
  return count
}

describe("parsing in steps", () => {
  test.each(Object.entries({ ...large, ...small }))("of %s equals JSON.parse", (_, value) => {
    for (const text of [JSON.stringify(value), ` ${JSON.stringify(value, null, 2)}\n`]) {
      const parsed = atOnce(parsingPieces(text))
      expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(text)))
      expect(parsed.keys).toBe(countKeys(value))
    }
  })

  test.each(Object.keys(large))("of %s takes steps in proportion to its length", (name) => {
    const text = JSON.stringify(large[name])
    expect(stepsOf(parsingPieces(text))).toBeGreaterThan(text.length / 200_000)
    expect(stepsOf(parsingPieces(JSON.stringify([large[name], large[name]])))).toBeGreaterThan(text.length / 100_000)
  })

  test("keeps the last of repeated names, and counts each once", () => {
    const members = Array.from({ length: 10_000 }, (_, index) => `"k${index % 6000}":{"a":${index}}`)
    const text = `{"x":{${members.join(",")}},"x2":[1],"x":{${members.join(",")}}}`
    const parsed = atOnce(parsingPieces(text))
    expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(text)))
    expect(parsed.keys).toBeLessThan(2 * 20_000 + 3)
  })

  test("rejects malformed text like JSON.parse", () => {
    const texts = [large["many items"], nested(manyItems(500)), [manyItems(700), manyItems(700)]].map((value) =>
      JSON.stringify(value),
    )
    const marks = [",", "}", "]", "{", "[", '"', "\u00a0", ":", "x", "1", "\\", " "]
    let seed = 42
    const random = (below: number): number => (seed = (seed * 1103515245 + 12345) % 2147483648) % below
    for (let round = 0; round < 200; round++) {
      const text = texts[round % texts.length] as string
      // Most cuts are where the structure is.
      const places = round % 2 === 0 ? [random(text.length)] : [text.length - 1 - random(40), random(60)]
      const at = places[random(places.length)] as number
      const changed = text.slice(0, at) + (marks[random(marks.length)] as string) + text.slice(at + random(2))
      expect(outcome(() => atOnce(parsingPieces(changed)).value)).toBe(outcome(() => JSON.parse(changed) as Json))
    }
  })
})

function outcome(parse: () => Json): string {
  try {
    return JSON.stringify(parse())
  } catch (error) {
    return String(error)
  }
}

describe("printing in steps", () => {
  test.each(Object.entries({ ...large, ...small }))("of %s equals JSON.stringify", (_, value) => {
    expect(atOnce(printingJson(value))).toBe(JSON.stringify(value))
  })

  test("omits undefined fields, and keeps long integers exact", () => {
    const value = {
      a: undefined,
      b: manyItems(3000),
      c: { d: undefined, e: 1 },
      f: [exactInteger("1152921504606846977")],
    } as unknown as Json
    expect(atOnce(printingJson(value))).toBe(JSON.stringify(value))
  })

  test.each(["many keys", "many items", "a long value below many short ones"])("of %s takes several steps", (name) => {
    expect(stepsOf(printingJson(large[name] as Json))).toBeGreaterThan(10)
  })

  test("of deep values takes steps in proportion to their number, not to the depth", () => {
    const chain = (depth: number): Json => {
      let inner: Json = Array.from({ length: 1000 }, () => "")
      for (let level = 0; level < depth; level++) inner = { a: inner, b: {} }
      return inner
    }
    const value = Array.from({ length: 20 }, () => chain(480))
    expect(stepsOf(printingJson(value))).toBeLessThan(100)
    expect(atOnce(printingJson(value))).toBe(JSON.stringify(value))
  })

  test("of short lists in a short list takes several steps", () => {
    expect(stepsOf(printingJson(Array.from({ length: 300 }, () => manyItems(50))))).toBeGreaterThan(10)
  })

  test("of a short value takes one step", () => {
    expect(stepsOf(printingJson(nested(manyItems(10))))).toBe(1)
  })
})
