import { expect, test } from "vitest"
import { parseYaml } from "./parse.ts"

test.each([
  ["a: 1\nb: [x, 'y']\n", { a: 1, b: ["x", "y"] }],
  ['{"a": {"b": null}}', { a: { b: null } }],
  ["a: &one {b: 1}\nc: *one\n", { a: { b: 1 }, c: { b: 1 } }],
  ["", null],
])("%j is parsed", (text, value) => {
  expect(parseYaml(text)).toEqual(value)
})

test.each([
  ["a: [\n", /^yaml: line 1: did not find expected node content$/],
  ["a: 1\nb: 2\na: 3\n", /^yaml: line 3: key "a" already set in map$/],
  [`a: ${"x".repeat(1024 * 1024)}`, /^yaml: more than 1048576 bytes$/],
])("what is not valid is told (%#)", (text, message) => {
  expect(() => parseYaml(text)).toThrow(message)
})
