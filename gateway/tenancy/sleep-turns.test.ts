// Which tenants Sleep wakes and lets sleep, and when; sleep.test.ts tests the effect on a real tenant.

import { expect, test, vi } from "vitest"
import { Sleep } from "./sleep.ts"
import type { TenantEntry } from "./tenant-entry.ts"

const limits = { tenantIdleMs: 60_000, maxAwakeTenants: 10, maxAwakeBytes: 2 ** 30 }

test("a tenant that is woken for subscribers is announced once, which does not count as use", async () => {
  using sleep = new Sleep(limits, () => false)
  const introduced: unknown[] = []
  const sleeper = (name: string): TenantEntry =>
    ({ isAwake: false, introduce: (isUse?: boolean) => Promise.resolve(introduced.push([name, isUse])) }) as never
  const [a, b] = [sleeper("a"), sleeper("b")]
  for (const entry of [a, b, a]) sleep.call(entry)
  await vi.waitFor(
    () =>
      expect(introduced).toEqual([
        ["a", false],
        ["b", false],
      ]),
    { timeout: 60_000 },
  )
})

test("a tenant sleeps at once after it was introduced to new followers, and otherwise when its waking has paid off", async () => {
  using sleep = new Sleep(limits, () => false)
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
  await vi.waitFor(() => expect(asleep).toEqual(["new"]), { timeout: 60_000 })
})
