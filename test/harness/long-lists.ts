// What tests with lists as long as bodies have in common: none takes much of the thread's time.

import { afterEach, beforeEach, expect, vi } from "vitest"
import { StatusError } from "../../apimachinery/status.ts"

export const many = 100_000
/** Of the thread's own time: many times what a test takes, and much less than it would. */
const maxSeconds = 20
export const reference = { apiVersion: "v1", kind: "ConfigMap" }
export const uidOf = (n: number): string => `11111111-1111-4111-8111-${String(n).padStart(12, "0")}`
export const numbers = Array.from({ length: many }, (_, index) => index)

/** Each test of the file. */
export function limitThreadTime(): void {
  let before: NodeJS.CpuUsage
  beforeEach(() => {
    before = process.threadCpuUsage()
  })
  afterEach(() => {
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(maxSeconds)
  })
}

/** What is asked, or the message of what it is refused with. */
export function outcome(ask: () => unknown): unknown {
  try {
    return ask()
  } catch (error) {
    if (error instanceof StatusError) return error.message
    throw error
  }
}

/** The same items, and how often their names have been read. */
export function countingReads<T extends { name: string }>(items: readonly T[]): { items: T[]; reads: () => number } {
  let reads = 0
  const counted = items.map((item) =>
    Object.defineProperty({ ...item }, "name", {
      get: () => {
        reads++
        return item.name
      },
    }),
  )
  return { items: counted, reads: () => reads }
}

/** How many items of lists are moved by putting others before them, or taking them out. */
export function itemsMoved(act: () => void): number {
  let moved = 0
  const count = (list: unknown[], from: number): void => void (moved += Math.max(list.length - from, 0))
  const { splice, shift } = Array.prototype
  using _splice = vi.spyOn(Array.prototype, "splice").mockImplementation(function (this: unknown[], ...args) {
    count(this, args[0])
    return Reflect.apply(splice, this, args) as unknown[]
  })
  using _shift = vi.spyOn(Array.prototype, "shift").mockImplementation(function (this: unknown[]) {
    count(this, 1)
    return Reflect.apply(shift, this, []) as unknown
  })
  act()
  return moved
}
