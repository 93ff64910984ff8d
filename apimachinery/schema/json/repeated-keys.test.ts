import { describe, expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { schemaOf } from "../facts.ts"
import { firstOfKeys } from "./scan.ts"
import { keepFirst } from "./repeated-keys.ts"

describe("firstOfKeys()", () => {
  test.each([
    ['{"a":1,"b":2}', '{"a":1,"b":2}'],
    ['{"a":1 , "a":2}', '{"a":1 }'],
    ['{"a":{"b":1,"b":2},"a":{"b":3,"b":4},"c":[{"d":1,"d":[]}]}', '{"a":{"b":1},"c":[{"d":1}]}'],
    ['{"a":"}","\\u0061":"{","a":3}', '{"a":"}"}'],
  ])("%s", (text, first) => {
    expect(firstOfKeys(text)).toBe(first)
  })
})

describe("keepFirst()", () => {
  const schema = schemaOf({ group: "", version: "v1", kind: "Pod" })
  test.each<[string, Json, Json, Json]>([
    [
      "fields of structs",
      { spec: { nodeName: "a" } },
      { spec: { hostPID: true } },
      { spec: { hostPID: true, nodeName: "a" } },
    ],
    [
      "entries of maps",
      { spec: { nodeSelector: { a: "1" } } },
      { spec: { nodeSelector: { b: "2" } } },
      { spec: { nodeSelector: { b: "2", a: "1" } } },
    ],
    [
      "items by their places",
      { spec: { containers: [{ name: "a" }, { name: "b" }] } },
      { spec: { containers: [{ image: "c" }] } },
      { spec: { containers: [{ image: "c", name: "a" }] } },
    ],
    ["only the last scalar", { spec: { nodeName: "a" } }, { spec: { nodeName: "b" } }, { spec: { nodeName: "b" } }],
  ])("keeps %s", (_what, first, last, both) => {
    keepFirst(first, last, schema)
    expect(last).toEqual(both)
  })
})
