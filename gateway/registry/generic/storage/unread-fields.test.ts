import { expect, test } from "vitest"
import type { Json } from "../../../../apimachinery/object.ts"
import { findUnread, hasUnread, noteUnread, unreadFields } from "./unread-fields.ts"

function fieldsOf(before: Json, after: object): string[] {
  noteUnread(after, findUnread(before))
  expect(hasUnread(after)).toBe(unreadFields(after).length > 0)
  return unreadFields(after)
}

test.each<[what: string, before: Json, after: object, fields: string[]]>([
  ["a null that was dropped", { spec: { a: null, b: 1 } }, { spec: { b: 1 } }, ["spec"]],
  ["a null that is permitted", { spec: { a: null } }, { spec: { a: null } }, []],
  [
    "a null in an item of a list",
    { spec: { a: [{ b: null }] }, status: {} },
    { spec: { a: [{}] }, status: {} },
    ["spec"],
  ],
  ["an item of a list that is null", { spec: { a: [null] } }, { spec: { a: [] } }, []],
  ["empty finalizers", { metadata: { name: "a", finalizers: [] } }, { metadata: { name: "a" } }, ["metadata"]],
  ["metadata of a template that is null", { spec: { metadata: null } }, { spec: { metadata: {} } }, ["spec"]],
  ["the server's own", { metadata: { managedFields: null } }, { metadata: {} }, []],
])("what is not read of %s", (_, before, after, fields) => {
  expect(fieldsOf(before, after)).toEqual(fields)
})

test("many of them far down take no more than the object", () => {
  const depth = 900
  let before: Json = Array.from({ length: 100_000 }, () => ({ a: null }))
  for (let level = 0; level < depth; level++) before = { below: before }
  const heap = process.memoryUsage().heapUsed
  const found = findUnread({ spec: before })
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(100 * 1024 * 1024)
  const after = { spec: {} }
  noteUnread(after, found)
  expect(unreadFields(after)).toEqual([])
})
