import { expect, test } from "vitest"
import { Places } from "./places.ts"

/** A request: it ends when it is told to. */
function caller(): { end: () => void; whenDone: (callback: () => void) => void } {
  const callbacks: (() => void)[] = []
  return {
    end: () => callbacks.splice(0).forEach((callback) => callback()),
    whenDone: (callback) => void callbacks.push(callback),
  }
}

test("requests wait for a place in the order of their arrival", async () => {
  const places = new Places(1)
  const [first, second, third] = [caller(), caller(), caller()]
  expect(places.take(first)).toBeUndefined()
  const got: string[] = []
  const waiting = [
    places.take(second)?.then(() => got.push("second")),
    places.take(third)?.then(() => got.push("third")),
  ]
  first.end()
  await waiting[0]
  expect(got).toEqual(["second"])
  second.end()
  await waiting[1]
  expect(got).toEqual(["second", "third"])
  third.end()
  expect(places.take(caller())).toBeUndefined()
})

test("a request that ends while it waits takes no place", async () => {
  const places = new Places(1)
  const [first, second, third] = [caller(), caller(), caller()]
  expect(places.take(first)).toBeUndefined()
  const waiting = places.take(second)
  second.end()
  await waiting
  first.end()
  expect(places.take(third)).toBeUndefined()
})
