import { expect, test } from "vitest"
import { goQuote } from "./quote.ts"
import { byteOf, bytesOfText, textOfBytes, withoutBytes } from "./text.ts"

// As Go's strconv.Quote prints them.
test.each([
  ["61c3a4f09f9880", '"aä😀"'],
  ["ff", '"\\xff"'],
  ["61ff62", '"a\\xffb"'],
  ["c328", '"\\xc3("'],
  ["e282", '"\\xe2\\x82"'],
  ["eda080", '"\\xed\\xa0\\x80"'],
  ["f4908080", '"\\xf4\\x90\\x80\\x80"'],
  ["c080", '"\\xc0\\x80"'],
  ["f09f98", '"\\xf0\\x9f\\x98"'],
  ["efbfbd", '"\ufffd"'],
])("%s is printed as %s", (bytes, printed) => {
  expect(goQuote(textOfBytes(Buffer.from(bytes, "hex")))).toBe(printed)
})

test.each(["a", "ä", "😀", "\u{fffd}"])("%s does not represent a byte", (character) => {
  expect(byteOf(character.codePointAt(0) ?? 0)).toBeUndefined()
})

test("a text has the bytes that it was made of, and in JSON replaces those that are no UTF-8", () => {
  const bytes = Buffer.from("61ffc3a4e282f09f9880c08022", "hex")
  const text = textOfBytes(bytes)
  expect(bytesOfText(text)).toEqual(bytes)
  expect(withoutBytes(JSON.stringify(text))).toBe(String.raw`"a\ufffdä\ufffd\ufffd😀\ufffd\ufffd\""`)
  expect(withoutBytes(JSON.stringify("\\udcff"))).toBe(String.raw`"\\udcff"`)
})
