import { describe, expect, test } from "vitest"
import { chance, createRandom, pick, seedOf } from "../testing/random.ts"
import { type Fields, State } from "./testing/state.ts"
import { type } from "./testing/schema.ts"

describe("random applies and updates", () => {
  const seed = seedOf()
  const names = ["a", "b", "c"]

  test(`keep what was applied, and remove only fields without an owner (SEED=${seed})`, async () => {
    const random = createRandom(seed)
    const one = <T>(of: readonly T[]): T => pick(random, of)
    const some = (): string[] => names.filter(() => chance(random, 0.5))
    // No empty lists: nobody owns whether an empty list exists, so an apply may remove it or not.
    const configuration = (): Fields => {
      const [set, labels, items] = [some(), some(), some()]
      return {
        ...(chance(random, 0.5) ? { name: one(names) } : {}),
        ...(set.length > 0 ? { set } : {}),
        ...(labels.length > 0 ? { labels: Object.fromEntries(labels.map((name) => [name, one(names)])) } : {}),
        ...(items.length > 0 ? { items: items.map((name) => ({ name, value: one(names) })) } : {}),
      }
    }
    for (let round = 0; round < 60; round++) {
      const state = new State(type)
      for (let step = 0; step < 8; step++) {
        const manager = one(["m", "n"])
        if (chance(random, 0.3)) {
          state.update("u", configuration())
          const [owned, live] = [state.owned(), state.live]
          state.update("v", live) // changes nothing
          expect(state.owned()).toEqual(owned)
          continue
        }
        const wanted = configuration()
        expect(await state.apply(manager, wanted, { force: true })).toBe("ok")
        expect(state.live).toMatchObject(contained(wanted, state.live))
        const after = JSON.stringify([state.live, state.sets()])
        expect(await state.apply(manager, wanted)).toBe("ok")
        expect(JSON.stringify([state.live, state.sets()])).toBe(after)
      }
      const { m: _m, ...others } = state.owned()
      const before = state.live
      expect(await state.apply("m", {}, { force: true })).toBe("ok")
      expect(Object.keys(before)).toEqual(expect.arrayContaining(Object.keys(state.live)))
      const { m: left = [], ...rest } = state.owned()
      expect(left).toEqual([])
      for (const [manager, fields] of Object.entries(rest))
        expect(others[manager]).toEqual(expect.arrayContaining(fields))
    }
  })
})

/** For associative lists, checks only that the members exist. */
function contained(wanted: Fields, live: Fields): Fields {
  const result: Fields = {}
  for (const [name, value] of Object.entries(wanted)) {
    if (!Array.isArray(value)) result[name] = value
    else if (value.length > 0) {
      for (const item of value) expect(live[name]).toContainEqual(item)
    }
  }
  return result
}
