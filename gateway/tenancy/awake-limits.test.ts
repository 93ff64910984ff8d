// How many tenants are awake, and with how much memory.

import { expect, test } from "vitest"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps, nodes } from "../../client/resources.ts"
import { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { configMap, startTestGateway } from "../testing/start-gateway.ts"

/** No tenant falls asleep because it is not used. */
const used = { tenantIdleMs: 600_000, maxAwakeTenants: 100 }

test("the least recently used tenants fall asleep when too many are awake", async () => {
  await using small = await startTestGateway({ limits: { ...used, maxAwakeTenants: 2 } })
  const { tenants } = small.gateway
  for (const name of ["a", "b", "c", "d"]) await small.createTenant(name)
  await expect.poll(() => tenants.awake).toBe(2)
  await tenants
    .client("a")
    .get(nodes, undefined, "none")
    .catch(() => undefined)
  expect(tenants.awake).toBe(3)
  await expect.poll(() => tenants.awake).toBe(2)
})

test("the least recently used tenants fall asleep when awake tenants exceed the memory limit", async () => {
  const objectBytes = 100_000
  const maxAwakeBytes = 6 * 1024 * 1024
  await using small = await startTestGateway({ limits: { ...used, maxAwakeBytes } })
  const { tenants } = small.gateway
  const opened = new Map<string, unknown>()
  for (const name of ["a", "b", "c", "d"]) {
    const api = small.client(`/tenants/${name}`, await small.createTenant(name))
    for (let index = 0; index < 5; index++)
      await api.create(configMaps, configMap(`c${index}`, { text: "x".repeat(objectBytes) }))
    const controlPlane = await tenants.byName(name)!
    opened.set(name, controlPlane)
    expect(controlPlane.memoryBytes).toBeGreaterThan(5 * objectBytes)
  }
  await expect.poll(() => tenants.awakeBytes).toBeLessThanOrEqual(maxAwakeBytes)
  expect(tenants.awakeBytes).toBeGreaterThan(5 * objectBytes)
  // A tenant that has slept has a new control plane.
  expect(await tenants.byName("d")).toBe(opened.get("d"))
  expect(await tenants.byName("a")).not.toBe(opened.get("a"))
})

test("the memory of an awake tenant includes its objects in informers", async () => {
  await using large = await startTestGateway({ limits: used })
  const { tenants } = large.gateway
  await large.createTenant("followed")
  expect(tenants.awake).toBe(1)
  const alone = tenants.awakeBytes
  const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
  const stop = new AbortController()
  informer.start(stop.signal)
  await expect.poll(() => informer.isSynced("followed")).toBe(true)
  expect(tenants.awakeBytes).toBeGreaterThan(alone + 100 * 1024)
  stop.abort()
})
