import { expect, test } from "vitest"
import type { StoreEvent } from "../types.ts"
import { EventBuffer } from "./event-buffer.ts"

const eventAt = (revision: number, key: string): StoreEvent => ({
  type: "put",
  current: { key, value: Buffer.alloc(100), createRevision: revision, modRevision: revision },
})

test("above the limit, the oldest transactions are removed as a whole", () => {
  const maxBytes = 20_000
  const buffer = new EventBuffer(1, maxBytes)
  const keys = ["/a", "/b", "/c"]
  for (let revision = 2; revision <= 1000; revision++) {
    const events = keys.map((key) => eventAt(revision, key))
    buffer.publish(events, revision)
    expect(buffer.bytes).toBeLessThanOrEqual(maxBytes)
    const left = buffer.since(buffer.floor)
    expect(left).toHaveLength(keys.length * (revision - buffer.floor))
    expect(left.at(-1)).toBe(events.at(-1))
    expect(left[0]?.current.modRevision).toBe(buffer.floor + 1)
  }
  expect(buffer.floor).toBeGreaterThan(900)
  expect(buffer.since(999).map(({ current }) => current.key)).toEqual(keys)
  expect(buffer.since(1000)).toEqual([])
})
