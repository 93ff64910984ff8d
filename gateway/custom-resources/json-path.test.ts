import { describe, expect, test } from "vitest"
import { findAll, JsonPathError, parseJsonPath, plainFields } from "./json-path.ts"

const object = {
  metadata: { name: "n", labels: { "a.b/c": "x" } },
  spec: {
    n: 3,
    list: [
      { type: "A", v: 1 },
      { type: "B", v: 2 },
      { type: "A", v: 3 },
    ],
  },
}

describe("findAll()", () => {
  test.each<[string, unknown[]]>([
    [".metadata.name", ["n"]],
    ["{.metadata.name}", ["n"]],
    [".spec.none", []],
    [".spec.list[0].v", [1]],
    [".spec.list[-1].v", [3]],
    [".spec.list[*].v", [1, 2, 3]],
    [".spec.list[0:2].v", [1, 2]],
    ['.spec.list[?(@.type=="A")].v', [1, 3]],
    [".spec.list[?(@.v>1)].type", ["B", "A"]],
    [".metadata.labels.a\\.b/c", ["x"]],
    [".metadata.labels['a.b/c']", ["x"]],
    [".spec.n.deeper", []],
    [".__proto__", []],
    [".metadata.constructor", []],
  ])("%s", (path, expected) => {
    expect(findAll(parseJsonPath(path), object)).toEqual(expected)
  })
})

test.each(["[", ".a[", ".a[?(", ".a[x]", `.${"a.".repeat(2000)}a`])("%s is refused", (path) => {
  expect(() => parseJsonPath(path)).toThrow(JsonPathError)
})

test.each<[string, string[]]>([
  [".spec.replicas", ["spec", "replicas"]],
  [".spec['a']", ["spec['a']"]],
  [".spec.a[0]", ["spec", "a[0]"]],
  [".spec.", ["spec", ""]],
])("plainFields() of %s are %j", (path, expected) => {
  expect(plainFields(path)).toEqual(expected)
})
