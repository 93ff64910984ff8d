import { describe, expect, test, vi } from "vitest"
import { compilePattern, patternError } from "./patterns.ts"

describe("patternError() returns Go's messages:", () => {
  test.each([
    ["(", "missing closing ): `(`"],
    ["a)", "unexpected ): `a)`"],
    ["[a", "missing closing ]: `[a`"],
    ["*", "missing argument to repetition operator: `*`"],
    ["a**", "invalid nested repetition operator: `**`"],
    ["a{1001}", "invalid repeat count: `{1001}`"],
    ["(?=a)", "invalid or unsupported Perl syntax: `(?=`"],
    ["\\1", "invalid escape sequence: `\\1`"],
    ["[z-a]", "invalid character class range: `z-a`"],
    ["a\\", "trailing backslash at end of expression: ``"],
  ])("%s", (pattern, fault) => {
    expect(patternError(pattern)).toBe(`error parsing regexp: ${fault}`)
  })

  test("a pattern that expands too much is rejected", () => {
    expect(patternError("((a{100}){100}){100}")).toContain("expression too large")
  })
})

describe("matches()", () => {
  test.each([
    ["^a+$", "aaa", true],
    ["^a+$", "aab", false],
    ["b", "abc", true],
    ["^(?:a|bc)*$", "abca", true],
    ["^\\d{1,3}(\\.\\d{1,3}){3}$", "10.0.0.1", true],
    ["^[^a-c]$", "d", true],
    ["(?i)^abc$", "aBC", true],
    ["(?i)S", "ß", false],
    ["(?i)^[^s]$", "ß", true],
    ["^(?P<name>x)$", "x", true],
    ["\\bfoo\\b", "a foo b", true],
    ["\\bfoo\\b", "afoo", false],
    ["^[[:alpha:]_]+$", "a_B", true],
    ["^\\p{Lu}\\pL+$", "Émile", true],
    ["^.$", "😀", true],
    ["^\\Qa.b\\E$", "a.b", true],
    ["^a{,2}$", "a{,2}", true],
    ["a$", "a\n", false],
    ["(?m)^b$", "a\nb\nc", true],
    ["^\\x41\\x{42}$", "AB", true],
  ])("%s on %j: %s", (pattern, text, expected) => {
    expect(compilePattern(pattern).matches(text)).toBe(expected)
  })

  test("agrees with JavaScript where the syntax has the same meaning", () => {
    let state = 20260101
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
      return (state >> 8) % below
    }
    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
    const grow = (depth: number): string => {
      switch (random(depth > 3 ? 2 : 7)) {
        case 0:
        case 1:
          return pick(["a", "b", ".", "[ab]", "[^a]", "\\s"])
        case 2:
          return grow(depth + 1) + grow(depth + 1)
        case 3:
          return `(?:${grow(depth + 1)}|${grow(depth + 1)})`
        case 4:
          return `(?:${grow(depth + 1)})${pick(["*", "+", "?", "{1,2}", "{2}", "*?"])}`
        case 5:
          return pick(["^", "\\b", "\\B"]) + grow(depth + 1)
        default:
          return `${grow(depth + 1)}$`
      }
    }
    for (let round = 0; round < 3000; round++) {
      const pattern = grow(0)
      const text = Array.from({ length: random(8) }, () => pick(["a", "b", " ", "c"])).join("")
      expect([pattern, text, compilePattern(pattern).matches(text)]).toEqual([
        pattern,
        text,
        new RegExp(pattern).test(text),
      ])
    }
  })

  test.each(["x", "\\", "\\Q\\E", "{1", "|", "(?P<", "[[:", "[a-b", "\\x{", "()", "\\p{"])(
    "of a million %j is told",
    (part) => {
      expect(patternError(part.repeat(1_000_000 / part.length))).toContain("error parsing regexp: ")
    },
  )

  test("takes no exponential time, and rejects texts that take too long", () => {
    // Exponential time would exceed the time limit of the test.
    expect(compilePattern("^(a+)+$").matches(`${"a".repeat(20_000)}!`)).toBe(false)
    expect(() =>
      compilePattern(`(?:${"\\pL".repeat(1000)}){2}[${"\\pN".repeat(1000)}]`).matches("é".repeat(10_000)),
    ).toThrow(RangeError)
    const sets = Array.from({ length: 1000 }, (_, n) => `${String.fromCodePoint(0x4e00 + n)}1`).join("|")
    expect(compilePattern(`(?:${sets})`).matches("é".repeat(1000))).toBe(false)
    expect(() => compilePattern(`(?i:${sets})`).matches("é".repeat(1000))).toThrow(RangeError)
    expect(() => compilePattern("(?:.{1,500}x){2}").matches("a".repeat(100_000))).toThrow(RangeError)
  })
})

test("a character is folded once, whatever the number of sets it is looked for in", () => {
  const letters = Array.from({ length: 100 }, (_, index) => String.fromCodePoint(0x430 + index))
  const pattern = compilePattern(`(?i)${letters.map((letter) => `${letter}1`).join("|")}`)
  using lower = vi.spyOn(String.prototype, "toLowerCase")
  expect(pattern.matches("日月".repeat(10))).toBe(false)
  expect(lower.mock.calls.length).toBeLessThanOrEqual(20)
})
