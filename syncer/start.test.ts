// After a start every tenant is looked at: by the controllers at once, and by the syncer when it has listed the super cluster.

import { expect, onTestFinished, test, vi } from "vitest"
import type { ConfigMap } from "../apimachinery/object.ts"
import { TenantInformer } from "../client/informers/tenant-informer.ts"
import { configMaps } from "../client/resources.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { Sleep } from "../gateway/tenancy/sleep.ts"
import { startTestGateway } from "../gateway/testing/start-gateway.ts"
import { startSyncer } from "./main.ts"
import { holdLists } from "./testing/hold-lists.ts"

test("each sleeping tenant is woken once for both, and one that is in use waits for neither", async () => {
  await using gateway = await startTestGateway({ limits: { tenantIdleMs: 40, maxAwakeTenants: 100 } })
  const { tenants } = gateway.gateway
  const sleeping = ["a", "b", "c"]
  for (const name of [...sleeping, "used"]) await gateway.createTenant(name, { controllers: false })
  await expect.poll(() => tenants.awake).toBe(0)
  const leave = (await tenants.byName("used"))!.presence.enter()
  onTestFinished(leave)
  const woke = vi.spyOn(Sleep.prototype, "woke")
  onTestFinished(() => woke.mockRestore())
  /** Only of this gateway: those of other tests may not have ended. */
  const uids = new Set(tenants.list().map(({ uid }) => uid))
  const woken = (): string[] => {
    const own = woke.mock.calls.map(([entry]) => entry.record.tenant).filter(({ uid }) => uids.has(uid))
    return own.map(({ name }) => name).filter((name) => sleeping.includes(name))
  }

  // Right after the start nobody would be woken yet.
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 10_000)
  onTestFinished(() => clock.mockRestore())

  const superCluster = new FakeCluster({ isSuper: true })
  const releaseLists = holdLists(superCluster)
  await using syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  const followers = new TenantInformer<ConfigMap>(tenants, configMaps)
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  followers.start(stop.signal)
  await expect.poll(() => followers.isSynced("used")).toBe(true)
  // The controllers' tenants would be awake by the time that another one has come and sleeps.
  await gateway.createTenant("another", { controllers: false })
  await expect.poll(() => tenants.awake).toBe(1)
  expect(woken()).toEqual([])
  releaseLists()
  await syncer.whenSynced()
  await expect.poll(woken).toEqual(sleeping)
  await expect.poll(() => tenants.awake).toBe(1)
  expect(woken()).toEqual(sleeping)
})
