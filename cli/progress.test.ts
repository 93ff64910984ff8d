// Long operations report progress on standard error; short ones print nothing.

import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { withProgress } from "./progress.ts"

let printed: string[]

beforeEach(() => {
  vi.useFakeTimers()
  printed = []
  vi.spyOn(process.stderr, "write").mockImplementation((text) => printed.push(String(text)) > 0)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test("prints the activity, its duration and progress after one second and then every five", async () => {
  const end = Promise.withResolvers<string>()
  let say = (_detail: string): void => undefined
  const work = withProgress("waiting", (sayDetail) => {
    say = sayDetail
    return end.promise
  })
  await vi.advanceTimersByTimeAsync(999)
  expect(printed).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(printed).toEqual(["… waiting (1 s)\n"])
  say("Pending")
  await vi.advanceTimersByTimeAsync(10_000)
  expect(printed.slice(1)).toEqual(["… waiting (6 s): Pending\n", "… waiting (11 s): Pending\n"])
  end.resolve("done")
  expect(await work).toBe("done")
  await vi.advanceTimersByTimeAsync(60_000)
  expect(printed).toHaveLength(3)
})

test("prints nothing for an activity shorter than a second", async () => {
  expect(await withProgress("short", () => Promise.resolve(1))).toBe(1)
  await expect(withProgress("failing", () => Promise.reject(new Error("no")))).rejects.toThrow("no")
  await vi.advanceTimersByTimeAsync(60_000)
  expect(printed).toEqual([])
})
