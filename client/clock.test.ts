import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { endsWithin, systemClock } from "./clock.ts"
import { FakeClock } from "./testing/fake-clock.ts"

describe("endsWithin()", () => {
  test("resolves with true when the work has ended, and cancels its timer", async () => {
    const clock = new FakeClock()
    expect(await endsWithin(clock, 1000, Promise.resolve("done"))).toBe(true)
    expect(clock.timers).toBe(0)
  })

  test("resolves with false after the time, and does not mind that the work fails later", async () => {
    const clock = new FakeClock()
    const { promise, reject } = Promise.withResolvers<void>()
    const ended = endsWithin(clock, 1000, promise)
    clock.advance(1000)
    expect(await ended).toBe(false)
    reject(new Error("too late"))
  })

  test("rejects if the work fails in time, and cancels its timer", async () => {
    const clock = new FakeClock()
    await expect(endsWithin(clock, 1000, Promise.reject(new Error("broken")))).rejects.toThrow("broken")
    expect(clock.timers).toBe(0)
  })
})

describe("the system's clock", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const day = 24 * 3600 * 1000

  test("waits for longer than a timer of Node can", () => {
    const call = vi.fn()
    systemClock.after(100 * day, call)
    vi.advanceTimersByTime(99 * day)
    expect(call).not.toHaveBeenCalled()
    vi.advanceTimersByTime(day)
    expect(call).toHaveBeenCalledOnce()
  })

  test("cancels such a wait in each part", () => {
    const call = vi.fn()
    const timer = systemClock.after(100 * day, call)
    vi.advanceTimersByTime(30 * day)
    timer.cancel()
    vi.advanceTimersByTime(100 * day)
    expect(call).not.toHaveBeenCalled()
  })
})
