import { describe, expect, test } from "vitest"
import { copyJson } from "../copy.ts"
import { applyJsonPatch } from "../patch/json-patch.ts"
import { applyMergePatch } from "../patch/merge-patch.ts"
import { mayHoldLongIntegers, parseJson } from "./exact-integers.ts"
import { parseObject } from "./json/parse.ts"
import type { Json } from "../object.ts"

const parse = (text: string): Json => parseJson(Buffer.from(text))
const again = (text: string): string => JSON.stringify(parse(text))

describe("parseJson", () => {
  test.each([
    ['{"a":9223372036854775807,"b":-9223372036854775808}'],
    ['{"a":[9007199254740993,[9007199254740992]]}'],
    ['{"a":1,"b":9007199254740991,"c":1.5,"d":"9223372036854775807","e":null}'],
    ['{"__proto__":{"x":9007199254740993},"constructor":9007199254740993}'],
  ])("keeps %s", (text) => {
    expect(again(text)).toBe(text)
  })

  test("keeps integers that fit a double as numbers", () => {
    expect(parse('{"a":9007199254740991,"b":9007199254740993}')).toStrictEqual({
      a: 9007199254740991,
      b: 9007199254740993n,
    })
  })

  test.each([
    ["9223372036854775808", 2 ** 63],
    ["-9223372036854775809", -(2 ** 63)],
    ["1e30", 1e30],
    ["12345678901234567.5", 12345678901234568],
  ])("parses %s as a double, like Go", (text, value) => {
    expect(parse(`[${text}]`)).toStrictEqual([value])
  })
})

describe("mayHoldLongIntegers", () => {
  test("finds one at any place", () => {
    for (let before = 0; before < 40; before++) {
      expect(mayHoldLongIntegers(Buffer.from(`{"${"k".repeat(before)}":9007199254740993}`))).toBe(true)
      expect(mayHoldLongIntegers(Buffer.from(`${" ".repeat(before)}-9007199254740993`))).toBe(true)
      const text = "1".repeat(before)
      expect(mayHoldLongIntegers(Buffer.from(`{"a":"${text}${text}","b":9007199254740993}`))).toBe(true)
    }
  })

  test.each([['{"a":999999999999999}'], ['{"a":"9223372036854775807"}'], ["1234567890 1234567890"]])(
    "finds none in %s",
    (text) => {
      for (let before = 0; before < 40; before++) {
        expect(mayHoldLongIntegers(Buffer.from(" ".repeat(before) + text))).toBe(false)
      }
    },
  )
})

describe("long integers", () => {
  const object = parse('{"spec":{"a":9223372036854775807}}')

  test("are kept by copies and patches", () => {
    expect(JSON.stringify(copyJson(object))).toBe('{"spec":{"a":9223372036854775807}}')
    expect(JSON.stringify(applyMergePatch(object, parse('{"spec":{"b":-9223372036854775807}}')))).toBe(
      '{"spec":{"a":9223372036854775807,"b":-9223372036854775807}}',
    )
    const test = parse(
      '[{"op":"test","path":"/spec/a","value":9223372036854775807},{"op":"add","path":"/l","value":[9007199254740993]}]',
    )
    expect(JSON.stringify(applyJsonPatch(object, test))).toBe(
      '{"spec":{"a":9223372036854775807},"l":[9007199254740993]}',
    )
  })

  test("are kept when YAML is parsed", () => {
    const { value } = parseObject(Buffer.from("a: 9223372036854775807\nb: [-9007199254740993, 7]\n"), "yaml", {
      duplicates: false,
    })
    expect(JSON.stringify(value)).toBe('{"a":9223372036854775807,"b":[-9007199254740993,7]}')
  })
})
