import { expect, test } from "vitest"
import { backoff } from "./backoff.ts"

test.each([
  [1, 200],
  [2, 400],
  [5, 3200],
  [9, 30_000],
  [5000, 30_000],
])("after %i failures it waits for %i ms, and up to half of that longer", (failures, base) => {
  for (let count = 0; count < 100; count++) {
    const ms = backoff(failures)
    expect(ms).toBeGreaterThanOrEqual(base)
    expect(ms).toBeLessThan(base * 1.5)
  }
})

test("delays other than those of reconnecting are limited as well", () => {
  const delays = { first: 10, longest: 40 }
  expect(Math.floor(backoff(1, delays) / 10)).toBe(1)
  expect(backoff(100, delays)).toBeLessThan(60)
})
