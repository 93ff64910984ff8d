import { expect, test } from "vitest"
import { matchesFields, parseFieldSelector, printFieldSelector } from "./fields.ts"

// kube-apiserver 1.36's messages.
test.each([
  ["a", "invalid selector: 'a'; can't understand 'a'"],
  ["metadata.name=a\\x", "invalid field selector: invalid escape sequence: \\x"],
  ["metadata.name=a\\", "invalid field selector: invalid escape sequence: \\"],
  ["metadata.name=a=b", "invalid field selector: unescaped character in value: 61"],
])("rejects %s", (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
})

test.each([
  ["metadata.name=a", { "metadata.name": "a" }, true],
  ["metadata.name==a", { "metadata.name": "b" }, false],
  ["spec.nodeName!=", { "spec.nodeName": "n" }, true],
  ["spec.nodeName=", {}, true],
  ["a=x\\,y\\=z", { a: "x,y=z" }, true],
  ["a=1,,b!=2", { a: "1", b: "2" }, false],
  ["", {}, true],
  ["!=,a=1", { a: "1" }, true],
  ["=x", {}, false],
])("%s on %j: %s", (text, fields, expected) => {
  expect(matchesFields(parseFieldSelector(text), fields)).toBe(expected)
})

test("prints selectors in a form that can be parsed", () => {
  expect(printFieldSelector(parseFieldSelector("b=x\\,y,a!=1"))).toBe("a!=1,b=x\\,y")
})
