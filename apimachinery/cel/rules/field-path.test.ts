import { expect, test } from "vitest"
import { followFieldPath } from "./field-path.ts"

const text = { type: "string" }
const schema = {
  type: "object",
  properties: {
    a: text,
    map: { type: "object", additionalProperties: text },
    free: { type: "object", additionalProperties: true },
    "'a.b'": text,
    "]": text,
    "it's": text,
  },
}

// As a kube-apiserver does for selectable fields (without brackets) and rules.
test.each([
  [".a", "a"],
  [".map.x", "map[x]"],
  [".map.'x.y'", "map['x.y']"],
  [".map.'x.y", "map['x.y]"],
  [".map.'x\\'y.z'", "map['x\\'y.z']"],
  [".'a.b'", "'a.b'"],
  [".]", "]"],
  [".it's", "it's"],
  [".free.x", "free[x]"],
  [".map['x.y']", "map[x.y]"],
  ["['it\\'s']", "it's"],
  ["", ""],
])("the path %s leads somewhere", (path, normal) => {
  const followed = followFieldPath(path, schema, { brackets: true })
  expect("path" in followed && followed.path.toString()).toBe(normal)
})

test.each([
  ["a", true, "expected [ or . but got: a"],
  [".", true, "unexpected end of JSON path"],
  [".b", true, "does not refer to a valid field"],
  [".a.b", true, "does not refer to a valid field"],
  [".map.'x'y", true, "expected [ or . but got: y"],
  [".map[x]", true, "expected single quoted string but got x"],
  [".map['x'y", true, "expected ] but got y"],
  [".map['x'", true, "unexpected end of JSON path"],
  [".map['x']", false, "array notation is not allowed"],
])("the path %s leads nowhere", (path, brackets, fault) => {
  expect(followFieldPath(path, schema, { brackets })).toEqual({ fault })
})

test("there is no schema below a map that has none", () => {
  expect(followFieldPath(".free.x", schema, { brackets: false })).toMatchObject({ schema: undefined })
})
