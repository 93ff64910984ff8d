import { describe, expect, test } from "vitest"
import { asOfYaml, firstOverflow, markOddNumbers, printWithoutMarks, withoutMarks } from "./number-literals.ts"
import { oddNumbersOf } from "./odd-numbers.ts"
import { parseObject } from "./parse.ts"

describe("markOddNumbers()", () => {
  const text = '{"a":1.0,"b":[1e3,7],"c":"1.0","d":9223372036854775808,"e":9007199254740993,"f":"\\"1e3"}'

  test("marks what does not print as it was written, and nothing else", () => {
    const marked = JSON.parse(markOddNumbers(text)) as { a: unknown; b: unknown[]; c: unknown; d: unknown; f: unknown }
    expect(marked).toMatchObject({ c: "1.0", b: [expect.any(String), 7], f: '"1e3' })
    expect([marked.a, marked.d].map((value) => typeof value)).toEqual(["string", "string"])
    expect(printWithoutMarks(markOddNumbers(text))).toBe(text)
  })

  test.each(["01", "1.", ".5", "+1", "1e"])("leaves %s, which is no number", (literal) => {
    expect(markOddNumbers(`[${literal}]`)).toBe(`[${literal}]`)
  })

  test("gives the numbers back, and tells where they were written how", () => {
    const marked = JSON.parse(markOddNumbers(text)) as never
    const value = withoutMarks(marked)
    expect(value).toMatchObject({ a: 1, b: [1000, 7] })
    const paths = [["a"], ["b", 0], ["b", 1], ["c"], ["d"]]
    const literals = ["1.0", "1e3", undefined, undefined, "9223372036854775808"]
    expect(paths.map((path) => oddNumbersOf(value)?.get(path))).toEqual(literals)
  })
})

test("firstOverflow() finds what no double holds, but in texts", () => {
  expect(firstOverflow('{"a":"1e400","b":1e308,"c":-1e400,"d":1e500}')).toBe("-1e400")
  expect(firstOverflow('{"a":"1e400"}')).toBeUndefined()
})

test("asOfYaml() makes texts of what no double holds, and keeps literals of unsigned integers only", () => {
  const { value } = parseObject(Buffer.from('{"a":[1e400],"b":1.0,"c":9223372036854775808}'), "json", {
    duplicates: false,
  })
  expect(asOfYaml(value)).toMatchObject({ a: ["1e400"], b: 1 })
  const odd = oddNumbersOf(value)
  expect([["a", 0], ["b"], ["c"]].map((path) => odd?.get(path))).toEqual([undefined, undefined, "9223372036854775808"])
})

test("what is very long takes no longer than its length: it would not end", () => {
  const open = `{"a":"${'\\"'.repeat(1_000_000)}`
  expect(markOddNumbers(open)).toBe(open)
  expect(firstOverflow(open)).toBeUndefined()
  const long = "1".repeat(1_000_000)
  expect(markOddNumbers(`[${long}]`)).toContain("number")
})
