// Compares with a plain sorted list, with enough keys for many pieces.

import { describe, expect, test } from "vitest"
import { compareKeys } from "../key-order.ts"
import type { KeyValue } from "../types.ts"
import { OrderedEntries } from "./ordered-entries.ts"

const seed = Math.floor(Math.random() * 2 ** 31)
let state = seed
/** Pseudorandom integers below `bound`, determined by the seed. */
function random(bound: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
  return Math.floor((state / 0x8000_0000) * bound)
}

const entry = (key: string, modRevision: number): KeyValue => ({
  key,
  value: new Uint8Array(modRevision % 5),
  createRevision: 1,
  modRevision,
})

function keyOf(number: number): string {
  const letters = ["a", "b", "\u{e9}", "\u{ffff}", "\u{1f600}"]
  return `/${letters[number % 5]}/${String(number).padStart(5, "0")}`
}

describe(`entries in order, seed ${seed}`, () => {
  test("are equal to a sorted list after random insertions and deletions", () => {
    const ordered = new OrderedEntries()
    const model = new Map<string, KeyValue>()
    const check = (): void => {
      const sorted = [...model.values()].sort((a, b) => compareKeys(a.key, b.key))
      for (const prefix of ["/", "/a/", "/\u{e9}/", "/\u{ffff}/", "/\u{1f600}/0", "/c/", "/b/00001"]) {
        for (const after of [undefined, keyOf(random(6000)), `${prefix}\u{10ffff}`, ""]) {
          const limit = [Infinity, 0, 1, 700][random(4)]!
          const all = sorted.filter(
            ({ key }) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0),
          )
          const found = ordered.select(prefix, after, limit)
          expect(found.items).toEqual(all.slice(0, limit))
          expect(found.remaining).toBe(Math.max(0, all.length - limit))
          expect(found.bytes).toBe(found.items.reduce((sum, { value }) => sum + value.length, 0))
        }
      }
    }
    check()
    for (let round = 0; round < 12; round++) {
      for (let step = 0; step < 1_000; step++) {
        const key = keyOf(random(6000))
        // Grows at first, then shrinks.
        if (random(10) < (round < 8 ? 8 : 1)) {
          const made = entry(key, round * 1000 + step)
          ordered.set(made)
          model.set(key, made)
        } else {
          ordered.delete(key)
          model.delete(key)
        }
      }
      check()
    }
    for (const key of model.keys()) ordered.delete(key)
    model.clear()
    check()
  })

  test("can be inserted in order, as read from a database", () => {
    const ordered = new OrderedEntries()
    const entries = Array.from({ length: 3000 }, (_, number) => entry(`/${String(number).padStart(5, "0")}`, number))
    for (const each of entries) ordered.set(each)
    expect(ordered.select("/", undefined, Infinity).items).toEqual(entries)
    expect(ordered.select("/", "/01499", 10)).toEqual({ items: entries.slice(1500, 1510), bytes: 20, remaining: 1490 })
  })
})
