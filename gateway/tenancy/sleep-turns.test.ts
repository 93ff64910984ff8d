// The order in which Sleep wakes tenants; sleep.test.ts tests the effect on a real tenant.

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
