import { describe, expect, test } from "vitest"
import { firstValue, maxWork } from "./evaluate.ts"
import { JsonPathError, OwnNumber, parseJsonPath } from "./parse.ts"

const object = {
  metadata: { name: "n", labels: { "a.b/c": "x" } },
  spec: {
    n: 3,
    nothing: null,
    list: [
      { type: "A", v: 1, deep: { v: 7 } },
      { type: "B", v: 2 },
      { type: "A", v: 3, share: 0.5 },
    ],
  },
}

/** The first result; undefined if there is none. */
const first = (path: string, of: object = object): unknown => firstValue(parseJsonPath(path), of)?.value

describe("firstValue()", () => {
  test.each<[string, unknown]>([
    [".metadata.name", "n"],
    [".spec.none", undefined],
    [".spec.nothing", null],
    [".spec.list[0].v", 1],
    [".spec.list[-1].v", 3],
    [".spec.list[9].v", undefined],
    [".spec.list[*].v", 1],
    [".spec.list[1:3].v", 2],
    [".spec.list[1:].v", 2],
    [".spec.list[::2].v", 1],
    [".spec.list[::0].v", undefined],
    [".spec.list[2,0].v", 3],
    [".spec['none','n']", 3],
    [".spec.list[9,0].v", undefined],
    ['.spec.list[?(@.type=="B")].v', 2],
    [".spec.list[?(@.v>1)].type", "B"],
    [".spec.list[?(@.v>1.5)].type", undefined],
    [".spec.list[?(@.share)].v", 3],
    [".spec.list[?(@.share==0.5)].v", 3],
    [".spec.list[?(@.type<>'A')].v", undefined],
    [".spec.list[?(@.v==2.0)].v", undefined],
    [".spec..deep.v", 7],
    [".spec..share", 0.5],
    ["..type", "A"],
    [".metadata.labels.a\\.b/c", "x"],
    [".metadata.labels['a\\.b/c']", "x"],
    [".metadata.labels['a.b/c']", undefined],
    [".metadata.name.*", new OwnNumber("integer", 110)],
    [".metadata.name 'text'", "text"],
    [".spec.n.deeper", undefined],
    [".spec.n[0]", undefined],
    [".metadata.name}{.spec.n[0]", undefined],
    [".__proto__", undefined],
    [".metadata.constructor", undefined],
  ])("%s", (path, expected) => {
    expect(first(path)).toEqual(expected)
  })

  test("stops when a path exceeds its cost limit", () => {
    const wide = { a: Array.from({ length: maxWork + 1 }, () => ({})) }
    expect(first(".a", wide)).toBe(wide.a)
    expect(first("..b", wide)).toBeUndefined()
    const deep = { a: { a: { a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } } } }
    expect(first("..a", deep)).toBeDefined()
    expect(first(`${"..a".repeat(12)}`, deep)).toBeUndefined()
  })
})

test.each([
  "[",
  ".a[",
  ".a[?(",
  ".a[x]",
  '.a["b"]',
  ".a[1,x]",
  ".a[99999999999999999999]",
  "....a",
  "..[",
  ".a #",
  ".a '",
  ".a\nb",
])("%j is rejected", (path) => {
  expect(() => parseJsonPath(path)).toThrow(JsonPathError)
})
