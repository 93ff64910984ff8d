// What statuses, events and metrics say of tenants.

import { describe, expect, test, vi } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { serviceUnavailable } from "../apimachinery/status.ts"
import { ClientMetrics } from "../client/metrics/client-metrics.ts"
import { events, virtualClusters } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import type { VirtualCluster } from "./main.ts"
import { operatorLimits } from "./options.ts"
import { create, inPhase, operator, restart, start, superCluster, tenants, useOperator } from "./testing/operator.ts"

useOperator()

describe("the operator", () => {
  test("changes the quota and the controllers of a tenant, and reports the quota", async () => {
    await create("default", "acme", { quota: { objects: 10, bytes: 1000 } })
    const { status } = await inPhase("default", "acme", "Running")
    expect(status?.quota).toEqual({ objects: 10, bytes: 1000 })
    superCluster.edit(virtualClusters, "default", "acme", { spec: { quota: { bytes: null }, controllers: false } })
    const found = () => superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status
    await expect.poll(() => found()?.quota).toEqual({ objects: 10 })
    expect(tenants.get("acme")).toMatchObject({ quota: { objects: 10 }, controllers: false })
    superCluster.edit(virtualClusters, "default", "acme", { spec: { quota: null } })
    await expect.poll(() => found()).not.toHaveProperty("quota")
    expect(tenants.get("acme")).not.toHaveProperty("quota")
    const told = () =>
      superCluster
        .all<KubeObject & { reason: string; message: string }>(events)
        .map(({ reason, message }) => `${reason}: ${message}`)
    await expect
      .poll(told)
      .toEqual([
        'TenantControlPlaneRunning: tenant "acme" is served',
        "QuotaChanged: the tenant's quota is now objects=10",
        "QuotaChanged: the tenant has no quota of its own now",
      ])
  })

  test("reports that a tenant cannot be served, and that it can be again", async () => {
    const clock = new FakeClock()
    await restart({ clock })
    for (const name of ["acme", "other"]) {
      await create("default", name)
      await inPhase("default", name, "Running")
    }
    const others = superCluster.find(virtualClusters, "default", "other")
    const message = "store /data/stores/1 is damaged: bad block"
    tenants.broken = [{ tenant: "acme", message }]
    clock.advance(operatorLimits.faultsMs)
    const { status } = await inPhase("default", "acme", "Error")
    const reason = "TenantStoreUnusable"
    expect(status).toMatchObject({ reason, message, conditions: [{ type: "Ready", status: "False", reason, message }] })
    await expect
      .poll(() => superCluster.all(events))
      .toContainEqual(expect.objectContaining({ type: "Warning", reason, message }))
    // Another operator does not say that it runs before the gateway has opened it.
    tenants.broken = []
    const kubeconfig = vi.spyOn(tenants, "kubeconfig").mockRejectedValue(serviceUnavailable("it is damaged"))
    await operator[Symbol.asyncDispose]()
    await start({ clock })
    await expect.poll(() => kubeconfig.mock.calls).toEqual([["acme"]])
    expect(superCluster.find<VirtualCluster>(virtualClusters, "default", "acme")?.status).toEqual(status)
    kubeconfig.mockRestore()
    await operator.whenReady()
    await expect.poll(() => clock.timers).toBeGreaterThan(1) // the key is queued again
    clock.advance(operatorLimits.recheckMs)
    await inPhase("default", "acme", "Running")
    expect(superCluster.find(virtualClusters, "default", "other")).toEqual(others)
  })

  test("counts VirtualClusters by phase", async () => {
    const metrics = new ClientMetrics()
    await restart({ metrics })
    await create("default", "one")
    await create("default", "two")
    await create("other", "one")
    await create("default", "late", { clusterVersionName: "none" })
    const printed = () => metrics.print().match(/^polyplane_virtualclusters\{.*$/gm)
    const counts = { Error: 1, Pending: 1, Running: 2 }
    const lines = Object.entries(counts).map(([phase, n]) => `polyplane_virtualclusters{phase="${phase}"} ${n}`)
    await expect.poll(printed).toEqual(lines)
  })
})
