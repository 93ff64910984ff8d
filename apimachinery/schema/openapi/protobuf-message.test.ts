import { expect, test } from "vitest"
import type { Pieces } from "./documents.ts"
import { bounds, message, text } from "./protobuf-message.ts"
import { encodeOpenAPIV3 } from "./protobuf-v3.ts"

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

test("a message has its fields by number, without zero and empty ones", () => {
  const schema = message({ description: [34, text], title: [9, text], ...bounds(10) }, 36)
  expect(hex(schema({ description: "d", title: "t", minItems: 2 }))).toBe(
    hex(Buffer.from("\x4a\x01t\x98\x01\x02\x92\x02\x01d", "latin1")),
  )
  expect(hex(schema({ maxLength: 9223372036854775807n, minLength: -1 }))).toBe(
    "78ffffffffffffffff7f8001ffffffffffffffffff01",
  )
  expect(hex(schema({ minimum: 0, minItems: 0, exclusiveMinimum: false, title: "" }))).toBe("")
})

test.each<[string, unknown, string]>([
  ["an object, which has no place in it", {}, "8a0200"],
  ["null", null, "8a0200"],
  ["a list", ["a"], "8a0200"],
  ["zero", 0, "8a0209090000000000000000"],
  ["false", false, "8a02021000"],
  ["a text", "a", "8a02031a0161"],
])("a default in version 3 that is %s", (_, value, expected) => {
  const pieces = [{ within: ["components", "schemas"], name: "T", value: { default: value } }] as Pieces
  const bytes = Buffer.concat([...encodeOpenAPIV3(pieces)])
  expect(hex(bytes).endsWith(expected)).toBe(true)
})
