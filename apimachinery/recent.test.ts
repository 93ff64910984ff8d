import { expect, test } from "vitest"
import { Recent } from "./recent.ts"

test("an expired value is dropped when another is set", () => {
  let now = 0
  const made = new Recent<object, string>({ keptMs: 10, maxFresh: 100, now: () => now })
  const at = (time: number): object => {
    now = time
    const key = {}
    made.set(key, String(time), 1)
    return key
  }
  const first = at(0)
  const second = at(9)
  expect([first, second].map((key) => made.get(key))).toEqual(["0", "9"])
  const third = at(10)
  expect([first, second, third].map((key) => made.get(key))).toEqual(["0", "9", "10"])
  // The passing of time has no effect by itself: only set() drops entries.
  now = 1000
  expect(made.get(third)).toBe("10")
  const fourth = at(1000)
  expect([first, second, third, fourth].map((key) => made.get(key))).toEqual([undefined, undefined, undefined, "1000"])
})

test("at most twice maxFresh values are kept, the latest ones", () => {
  const made = new Recent<object, number>({ keptMs: 10, maxFresh: 3, now: () => 0 })
  const keys = Array.from({ length: 8 }, () => ({}))
  keys.forEach((key, index) => made.set(key, index, 1))
  expect(keys.map((key) => made.get(key))).toEqual([undefined, undefined, undefined, 3, 4, 5, 6, 7])
})

test("heavy values are dropped after fewer others", () => {
  const made = new Recent<object, number>({ keptMs: 10, maxFresh: 3, now: () => 0 })
  const keys = Array.from({ length: 4 }, () => ({}))
  keys.forEach((key, index) => made.set(key, index, 5))
  expect(keys.map((key) => made.get(key))).toEqual([undefined, undefined, 2, 3])
})
