import { expect, test } from "vitest"
import { StatusError } from "../status.ts"
import { parseObject } from "./parse.ts"

// As kube-apiserver 1.36 tells them.
test.each([
  ["data: [", "line 1: did not find expected node content"],
  ["data: {", "line 1: did not find expected node content"],
  ["data: {a: ]", "did not find expected node content"],
  ["? a\n? b: [", "line 2: did not find expected node content"],
  ["data: [a", "line 1: did not find expected ',' or ']'"],
  ["{a: b", "line 1: did not find expected ',' or '}'"],
  ["key: [1, 2\nx: y", "line 1: did not find expected ',' or ']'"],
  ["a: b: c", "mapping values are not allowed in this context"],
  ["a: b\n c: d", "line 2: mapping values are not allowed in this context"],
  ["a\n\tb: c", "line 2: mapping values are not allowed in this context"],
  ["a: b\n- c", "line 1: did not find expected key"],
  ["data:\n  a: b\n c: d", "line 2: did not find expected key"],
  ["data: 'x", "found unexpected end of stream"],
  ['data: "x', "found unexpected end of stream"],
  ["a: @x", "found character that cannot start any token"],
  ["a: `x", "found character that cannot start any token"],
  ["\tb: c", "found character that cannot start any token"],
  ["a:\n\tb: c", "line 2: found character that cannot start any token"],
  ['a: "\\q"', "found unknown escape character"],
])("%j: %s", (text, words) => {
  let message = ""
  try {
    parseObject(Buffer.from(text), "yaml", { duplicates: false })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    ;({ message } = error)
  }
  expect(message).toContain(`: yaml: ${words} (`)
})
