import { expect, test } from "vitest"
import { createRandom, seedOf } from "../../apimachinery/testing/random.ts"
import { Comings } from "./comings.ts"

test("they stand in the order they came, until they go", () => {
  const comings = new Comings<{ name: string }>()
  expect([comings.first, comings.size, comings.values]).toEqual([undefined, 0, []])
  const [a, b, c] = ["a", "b", "c"].map((name) => ({ name }))
  const goes = [a, b, c].map((value) => comings.add(value as { name: string }))
  goes[1]?.()
  goes[1]?.()
  expect([comings.first, comings.size, comings.values]).toEqual([a, 2, [a, c]])
  goes[0]?.()
  expect([comings.first, comings.size, comings.values]).toEqual([c, 1, [c]])
})

test("like a Set, whatever comes and goes", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  const comings = new Comings<object>()
  const model = new Map<object, () => void>()
  for (let step = 0; step < 2_000; step++) {
    const present = [...model]
    const chosen = present[random(present.length + 1)]
    if (chosen === undefined) {
      const value = { step }
      model.set(value, comings.add(value))
    } else {
      const [value, go] = chosen
      go()
      model.delete(value)
    }
    const expected = [...model.keys()]
    const found = { first: comings.first, size: comings.size, values: comings.values }
    expect(found, `seed ${seed}, step ${step}`).toEqual({ first: expected[0], size: expected.length, values: expected })
  }
})
