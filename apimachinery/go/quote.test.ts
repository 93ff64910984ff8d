import { expect, test, vi } from "vitest"
import { goQuote } from "./quote.ts"

test.each([
  ["plain-name.1", '"plain-name.1"'],
  ['\0\x7fé"\\\u2028\n😀\x85', String.raw`"\x00\x7fé\"\\\u2028\n😀\u0085"`],
  ["\u{e0001} \u00a0\t", String.raw`"\U000e0001 \u00a0\t"`],
])("%j is quoted as by Go", (text, quoted) => {
  expect(goQuote(text)).toBe(quoted)
})

test("each different character is escaped once", () => {
  using escaping = vi.spyOn(String.prototype, "padStart")
  expect(goQuote("\u0001\u0002".repeat(1000))).toBe(`"${String.raw`\x01\x02`.repeat(1000)}"`)
  expect(escaping).toHaveBeenCalledTimes(2)
})
