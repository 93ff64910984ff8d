import { expect, test } from "vitest"
import { isMailAddress } from "./mail-address.ts"

test.each([
  ["a@b", true],
  ["a..b@c", false],
  ['"a b"@c', true],
  ['""@b', false],
  ["a@[::1]", true],
  ["a@[1.2.3]", false],
  ["A. B. (c) <a@b> (d (e) \\) f)", true],
  ["A <a@b", false],
  ["g: A <a@b>;", true],
  ["g:a@b,c@d;", false],
  ["g:;", false],
  ["=?utf-8?q?A?= <a@b>", true],
  ["=?latin?q?A?= <a@b>", false],
  ["A =?latin?q?A?= <a@b>", true],
  ["a@b (=?latin?b?YQ==?=)", false],
  [`a@${"(".repeat(100_000)}`, false],
])("%j is the address of a mail: %s", (text, expected) => {
  expect(isMailAddress(text)).toBe(expected)
})
