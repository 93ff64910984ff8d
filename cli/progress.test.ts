// Long operations report progress on standard error; short ones print nothing.

import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { withProgress } from "./progress.ts"

let clock: FakeClock
let printed: string[]

beforeEach(() => {
  clock = new FakeClock()
  printed = []
  vi.spyOn(process.stderr, "write").mockImplementation((text) => printed.push(String(text)) > 0)
})
afterEach(() => vi.restoreAllMocks())

test("prints the activity, its duration and progress after one second and then every five", async () => {
  const end = Promise.withResolvers<string>()
  let say = (_detail: string): void => undefined
  const work = (sayDetail: (detail: string) => void): Promise<string> => {
    say = sayDetail
    return end.promise
  }
  const waiting = withProgress("waiting", work, clock)
  clock.advance(999)
  expect(printed).toEqual([])
  clock.advance(1)
  expect(printed).toEqual(["… waiting (1 s)\n"])
  say("Pending")
  clock.advance(10_000)
  expect(printed.slice(1)).toEqual(["… waiting (6 s): Pending\n", "… waiting (11 s): Pending\n"])
  end.resolve("done")
  expect(await waiting).toBe("done")
  expect(clock.timers).toBe(0)
})

test("prints nothing for an activity shorter than a second", async () => {
  expect(await withProgress("short", () => Promise.resolve(1), clock)).toBe(1)
  await expect(withProgress("failing", () => Promise.reject(new Error("no")), clock)).rejects.toThrow("no")
  expect([printed, clock.timers]).toEqual([[], 0])
})
