import { expect, test } from "vitest"
import { Recent } from "./recent.ts"

test("what was made is there for a while, and goes when more is made long after", () => {
  let now = 0
  const made = new Recent<object, string>(10, () => now)
  const at = (time: number): object => {
    now = time
    const key = {}
    made.set(key, String(time))
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
