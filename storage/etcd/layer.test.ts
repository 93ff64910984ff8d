// Changes that etcd tells without the value before, as it does when that has been compacted.

import { expect, test } from "vitest"
import { emptyBaseLayer } from "../base-layer.ts"
import { Layer, LostValueError } from "./layer.ts"
import type { WireEvent } from "./wire.ts"

const revision = 9
const put = 0
const deletion = 1

function eventsOf(type: number, version: number) {
  const key = Buffer.from("/a")
  const kv = { key, value: Buffer.from("1"), create_revision: 5, mod_revision: revision, version }
  const event: WireEvent = { type, kv, prev_kv: null }
  return new Layer(emptyBaseLayer).events([{ place: { uid: "u", kind: "value", key: "/a" }, event }], revision)
}

test("of a creation there is none", () => {
  expect(eventsOf(put, 1)).toMatchObject([{ type: "put", current: { key: "/a" } }])
})

test.each([
  ["a change", put, 2],
  ["a deletion", deletion, 0],
])("without the value before, %s cannot be told", (_what, type, version) => {
  expect(() => eventsOf(type, version)).toThrow(LostValueError)
})
