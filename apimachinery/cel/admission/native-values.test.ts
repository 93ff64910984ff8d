import { expect, test } from "vitest"
import { jsonValue } from "../json-values.ts"
import { ArrayList, Duration, EntryMap, Timestamp, UInt, type Value } from "../values.ts"
import { nativeObject } from "./native-values.ts"
import { ObjectValue } from "./patch-values.ts"

const one = (value: Value): unknown => nativeObject(new ObjectValue("Object", new Map([["a", value]])))["a"]

test.each<[string, Value, unknown]>([
  ["a list", new ArrayList(["x", 1n]), ["x", 1]],
  ["a map", new EntryMap([["x", "y"]]), { x: "y" }],
  ["an object within a list", new ArrayList([new ObjectValue("Object.a", new Map([["b", "c"]]))]), [{ b: "c" }]],
  ["what an object has", jsonValue({ x: [{ y: ["z"] }] }), { x: [{ y: ["z"] }] }],
])("%s is the value of a field", (_name, value, native) => expect(one(value)).toEqual(native))

test.each<[string, Value, string, string]>([
  ["null", null, "0", "NULL_VALUE"],
  ["an unsigned integer", new UInt(26n), "0x1a", "26"],
  ["bytes", new Uint8Array([1, 255]), "[]uint8{0x1, 0xff}", "[1 255]"],
  ["a duration", new Duration(1_500_000_000n), "1500000000", "1.5s"],
  [
    "a time",
    new Timestamp(1_500_000_000n),
    "time.Date(1970, time.January, 1, 0, 0, 1, 500000000, time.UTC)",
    "1970-01-01 00:00:01.5 +0000 UTC",
  ],
])("%s is no value of a field", (_name, value, syntax, text) => expect(one(value)).toMatchObject({ syntax, text }))

test("lists and maps within others are no values", () => {
  const inner = new EntryMap([["b", new ArrayList(["c", "d"])]])
  expect(one(new ArrayList([inner]))).toMatchObject([{ type: "map[ref.Val]ref.Val", text: "map[b:[c, d]]" }])
})
