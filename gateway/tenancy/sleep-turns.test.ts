// Which tenants Sleep wakes and lets sleep, and when; sleep.test.ts tests the effect on a real tenant.

import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { Sleep } from "./sleep.ts"
import type { TenantEntry } from "./tenant-entry.ts"

const needs = { isBusy: () => false, isHeld: () => false, isExpected: () => false }
const timers = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] as const
beforeEach(() => void vi.useFakeTimers({ toFake: [...timers] }))
afterEach(() => void vi.useRealTimers())

/** Lets that much time pass. */
async function later(ms: number): Promise<void> {
  for (let second = 0; second < ms / 1_000; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    await nextTurn()
  }
}

const limits = { tenantIdleMs: 60_000, maxAwakeTenants: 10, maxAwakeBytes: 2 ** 30 }

test("a tenant that is woken for subscribers is announced once, which does not count as use", async () => {
  using sleep = new Sleep(limits, needs)
  const introduced: unknown[] = []
  const sleeper = (name: string): TenantEntry =>
    ({ isAwake: false, introduce: (isUse?: boolean) => Promise.resolve(introduced.push([name, isUse])) }) as never
  const [a, b] = [sleeper("a"), sleeper("b")]
  for (const entry of [a, b, a]) sleep.call(entry)
  await later(10_000)
  expect(introduced).toEqual([
    ["a", false],
    ["b", false],
  ])
})

test("at a start sleeping tenants are woken when the followers that are still to come have come, which awake ones do not wait for", async () => {
  using sleep = new Sleep(limits, needs)
  const introduced: string[] = []
  const tenant = (name: string, isAwake: boolean): TenantEntry =>
    ({ isAwake, introduce: () => Promise.resolve(introduced.push(name)) }) as never
  const [come, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const coming of [come, late]) sleep.awaitFollowers(coming.promise)
  for (const entry of [tenant("a", false), tenant("b", true), tenant("c", false)]) sleep.call(entry)
  await later(10_000)
  expect(introduced).toEqual(["b"])
  sleep.call(tenant("d", true))
  come.resolve()
  await later(10_000)
  expect(introduced).toEqual(["b", "d"])
  // Not for ever: something may be due in them.
  await later(60_000)
  expect(introduced).toEqual(["b", "d", "a", "c"])
})

test("a tenant sleeps at once after it was introduced to new followers, and otherwise when its waking has paid off", async () => {
  using sleep = new Sleep(limits, needs)
  const asleep: string[] = []
  const introduced = (name: string, isToNew: boolean): TenantEntry =>
    ({
      record: { tenant: { name, uid: name } },
      presence: { idleMs: Infinity, lastUsed: -Infinity },
      introduced: { at: performance.now(), tookMs: limits.tenantIdleMs, followers: 1, isToNew },
      memoryBytes: 0,
      sleep: () => asleep.push(name) > 0,
    }) as never
  sleep.woke(introduced("again", false))
  sleep.woke(introduced("new", true))
  await later(10_000)
  expect(asleep).toEqual(["new"])
})

test.each<[what: string, maxAwakeTenants: number, maxAwakeBytes: number, asleep: string[]]>([
  ["enough room", 10, 2 ** 30, ["unused"]],
  ["too many tenants", 3, 2 ** 30, ["unused"]],
  ["far too many", 2, 2 ** 30, ["unused", "expected"]],
  ["hardly any memory", 10, 1, ["unused", "expected", "also expected"]],
])(
  "with %s those sleep last that are expected to be awake, and none whose leases are watched",
  async (_what, maxAwakeTenants, maxAwakeBytes, wanted) => {
    const asleep: string[] = []
    const entry = (name: string, lastUsed: number): TenantEntry =>
      ({
        record: { tenant: { name, uid: name } },
        presence: { idleMs: Infinity, lastUsed },
        memoryBytes: 1,
        sleep: () => asleep.push(name) > 0,
      }) as never
    const isHeld = ({ record }: TenantEntry): boolean => record.tenant.name === "watched"
    const isExpected = ({ record }: TenantEntry): boolean => record.tenant.name.endsWith("expected")
    using sleep = new Sleep({ ...limits, maxAwakeTenants, maxAwakeBytes }, { ...needs, isHeld, isExpected })
    const names = ["watched", "expected", "also expected", "unused"]
    for (const [index, name] of names.entries()) sleep.woke(entry(name, index))
    await later(10_000)
    expect(asleep).toEqual(wanted)
    expect(sleep.awake).toBe(names.length - wanted.length)
  },
)

test("sleeping tenants are woken in turn, even if all that are awake stay so", async () => {
  using sleep = new Sleep({ ...limits, maxAwakeTenants: 1 }, { ...needs, isHeld: () => true })
  const introduced: string[] = []
  const entry = (name: string, isAwake: boolean): TenantEntry =>
    ({
      isAwake,
      record: { tenant: { name, uid: name } },
      presence: { idleMs: 0, lastUsed: 0 },
      memoryBytes: 0,
      introduce: () => Promise.resolve(introduced.push(name)),
    }) as never
  for (const name of ["held", "also held"]) sleep.woke(entry(name, true))
  for (const name of ["a", "b"]) sleep.call(entry(name, false))
  await later(10_000)
  expect(introduced).toEqual(["a", "b"])
})
