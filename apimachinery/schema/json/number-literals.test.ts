import { describe, expect, test } from "vitest"
import { asOfYaml, firstOverflow, markOddNumbers, printWithoutMarks, withoutMarks } from "./number-literals.ts"
import { oddNumbersOf } from "./odd-numbers.ts"
import { parseObject } from "./parse.ts"

describe("markOddNumbers()", () => {
  const text = '{"a":1.0,"b":[1e3,7],"c":"1.0","d":9223372036854775808,"e":9007199254740993,"f":"\\"1e3"}'

  test("marks only numbers that are printed differently", () => {
    const marked = JSON.parse(markOddNumbers(text)) as { a: unknown; b: unknown[]; c: unknown; d: unknown; f: unknown }
    expect(marked).toMatchObject({ c: "1.0", b: [expect.any(String), 7], f: '"1e3' })
    expect([marked.a, marked.d].map((value) => typeof value)).toEqual(["string", "string"])
    expect(printWithoutMarks(markOddNumbers(text))).toBe(text)
  })

  test.each(["01", "1.", ".5", "+1", "1e"])("does not mark %s, which is not a number", (literal) => {
    expect(markOddNumbers(`[${literal}]`)).toBe(`[${literal}]`)
  })

  test("is reverted by withoutMarks(), which returns the places of the literals", () => {
    const marked = JSON.parse(markOddNumbers(text)) as never
    const value = withoutMarks(marked)
    expect(value).toMatchObject({ a: 1, b: [1000, 7] })
    const paths = [["a"], ["b", 0], ["b", 1], ["c"], ["d"]]
    const literals = ["1.0", "1e3", undefined, undefined, "9223372036854775808"]
    expect(paths.map((path) => oddNumbersOf(value)?.get(path))).toEqual(literals)
  })
})

test("firstOverflow() finds numbers above the range of doubles, but not in strings", () => {
  expect(firstOverflow('{"a":"1e400","b":1e308,"c":-1e400,"d":1e500}')).toBe("-1e400")
  expect(firstOverflow('{"a":"1e400"}')).toBeUndefined()
})

test("asOfYaml() converts numbers above the range of doubles to strings, and keeps literals of unsigned integers", () => {
  const { value } = parseObject(Buffer.from('{"a":[1e400],"b":1.0,"c":9223372036854775808}'), "json", {
    duplicates: false,
  })
  expect(asOfYaml(value)).toMatchObject({ a: ["1e400"], b: 1 })
  const odd = oddNumbersOf(value)
  expect([["a", 0], ["b"], ["c"]].map((path) => odd?.get(path))).toEqual([undefined, undefined, "9223372036854775808"])
})

test("marking a very long text takes linear time", () => {
  const open = `{"a":"${'\\"'.repeat(1_000_000)}`
  expect(markOddNumbers(open)).toBe(open)
  expect(firstOverflow(open)).toBeUndefined()
  const long = "1".repeat(1_000_000)
  expect(markOddNumbers(`[${long}]`)).toContain("number")
})
