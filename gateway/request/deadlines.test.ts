import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { Deadlines } from "./deadlines.ts"

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }))
afterEach(() => vi.useRealTimers())

test("each deadline is called when it expires, with one timer for all", () => {
  const deadlines = new Deadlines(100)
  const called: string[] = []
  deadlines.add(() => called.push("a"))
  vi.advanceTimersByTime(60)
  deadlines.add(() => called.push("b"))
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(50)
  expect(called).toEqual(["a"])
  vi.advanceTimersByTime(60)
  expect(called).toEqual(["a", "b"])
  expect(vi.getTimerCount()).toBe(0)
})

test("a removed deadline is never called, and later ones are in time", () => {
  const deadlines = new Deadlines(100)
  const called: string[] = []
  const remove = deadlines.add(() => called.push("first"))
  vi.advanceTimersByTime(10)
  deadlines.add(() => called.push("second"))
  remove()
  vi.advanceTimersByTime(105)
  expect(called).toEqual(["second"])
})
