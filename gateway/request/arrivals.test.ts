import { expect, test } from "vitest"
import { createRandom, seedOf } from "../../apimachinery/testing/random.ts"
import { Arrivals } from "./arrivals.ts"

test("values are kept in order of arrival until they are removed", () => {
  const arrivals = new Arrivals<{ name: string }>()
  expect([arrivals.first, arrivals.size, arrivals.values]).toEqual([undefined, 0, []])
  const [a, b, c] = ["a", "b", "c"].map((name) => ({ name }))
  const goes = [a, b, c].map((value) => arrivals.add(value as { name: string }))
  goes[1]?.()
  goes[1]?.()
  expect([arrivals.first, arrivals.size, arrivals.values]).toEqual([a, 2, [a, c]])
  goes[0]?.()
  expect([arrivals.first, arrivals.size, arrivals.values]).toEqual([c, 1, [c]])
})

test("behaves like a Set for random operations", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  const arrivals = new Arrivals<object>()
  const model = new Map<object, () => void>()
  for (let step = 0; step < 2_000; step++) {
    const present = [...model]
    const chosen = present[random(present.length + 1)]
    if (chosen === undefined) {
      const value = { step }
      model.set(value, arrivals.add(value))
    } else {
      const [value, go] = chosen
      go()
      model.delete(value)
    }
    const expected = [...model.keys()]
    const found = { first: arrivals.first, size: arrivals.size, values: arrivals.values }
    expect(found, `seed ${seed}, step ${step}`).toEqual({ first: expected[0], size: expected.length, values: expected })
  }
})
