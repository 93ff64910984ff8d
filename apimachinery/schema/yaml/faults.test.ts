import { expect, test } from "vitest"
import { StatusError } from "../../status.ts"
import { parseObject } from "../json/parse.ts"

// kube-apiserver 1.36's messages.
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
  ['a: "\\', "found unknown escape character"],
  ['x: y\nb: "\\u00"', "line 2: did not find expected hexdecimal number"],
  ["a: -", "block sequence entries are not allowed in this context"],
  ["data:\n  a: -\n", "line 2: block sequence entries are not allowed in this context"],
  ["--- -", "block sequence entries are not allowed in this context"],
  ["a: b\nc: d\n-\n", "line 2: did not find expected key"],
  ["a:\n  b: c\n-\n", "line 2: did not find expected key"],
  ["-\na: b", "line 1: did not find expected node content"],
  ["x:\n\n  - a\n  -\n  b: c", "line 4: did not find expected node content"],
  ["- a\nb: c", "line 1: did not find expected '-' indicator"],
  ["x:\n  - a\n  b: c", "line 2: did not find expected '-' indicator"],
  ["a: 'b' c", "did not find expected key"],
  ["a:\n  b: 'c' d\n  e: f", "line 1: did not find expected key"],
  ["a: b\nc", "line 3: could not find expected ':'"],
  ["a: b\nc\n\n\n", "line 5: could not find expected ':'"],
  ["a: b\nc\nd: e", "line 3: could not find expected ':'"],
  ["a:\n- b\nc", "line 4: could not find expected ':'"],
  ["a: ?", "mapping keys are not allowed in this context"],
  [": a", "did not find expected key"],
  ["x: y\na: | b", "line 2: did not find expected comment or line break"],
  ["k:\n  a: [,]\n", "line 1: did not find expected node content"],
  ["a: [ - ]", "did not find expected node content"],
  ["<<: a", "map merge requires map or sequence of maps as the value"],
  ["[a]: b", 'invalid map key: []interface {}{"a"}'],
  ["{a: b}: c", 'invalid map key: map[interface {}]interface {}{"a":"b"}'],
  ["a: \u0001", "control characters are not allowed"],
  ["a: \u007f", "control characters are not allowed"],
])("%j: %s", (text, words) => {
  expect(refusalOf(Buffer.from(text))).toContain(`: yaml: ${words} (`)
})

test.each([
  ["613a20ff", "yaml: invalid leading UTF-8 octet"],
  ["fffe61003a0061", "yaml: incomplete UTF-16 character"],
  ["feff006100", "yaml: incomplete UTF-16 character"],
  ["fffe61003a003dd8", "yaml: incomplete UTF-16 surrogate pair"],
  ["feff0061d83d0061", "yaml: expected low surrogate area"],
  ["feff0061dc00", "yaml: unexpected low surrogate area"],
  ["fffe01003dd8", "yaml: control characters are not allowed"],
  ["613a20c328", "yaml: invalid trailing UTF-8 octet"],
  ["613a20e282", "yaml: incomplete UTF-8 octet sequence"],
  ["613a20c080", "yaml: invalid length of a UTF-8 sequence"],
  ["613a20eda080", "yaml: invalid Unicode character"],
  [Buffer.from("null: a").toString("hex"), 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "a"'],
  [Buffer.from("?").toString("hex"), "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>"],
  [Buffer.from("a: -.inf").toString("hex"), "json: unsupported value: -Inf"],
])("bytes %s: %s", (bytes, words) => {
  expect(refusalOf(Buffer.from(bytes, "hex"))).toContain(`: ${words} (`)
})

function refusalOf(bytes: Buffer): string {
  try {
    parseObject(bytes, "yaml", { duplicates: false })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return error.message
  }
  return ""
}
