// Both sides change in every way while the syncer runs and while it does not; queue and patrol bring them together.

import { afterEach, describe, expect, test } from "vitest"
import { clusterAnnotation, superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import { createRandom } from "../apimachinery/testing/random.ts"
import { configMaps, namespaces, pods, secrets, serviceAccounts, services } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { differences } from "./testing/differences.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object, startHarness } from "./testing/harness.ts"

let syncer: Syncer | undefined
afterEach(async () => {
  await syncer?.[Symbol.asyncDispose]()
  syncer = undefined
})

const kinds: readonly { resource: Resource; kind: string; fill(value: string): object }[] = [
  { resource: configMaps, kind: "ConfigMap", fill: (value) => ({ data: { value } }) },
  { resource: secrets, kind: "Secret", fill: (value) => ({ data: { value } }) },
  {
    resource: services,
    kind: "Service",
    fill: (value) => ({ spec: { type: "ClusterIP", selector: { app: value }, ports: [{ port: 80 }] } }),
  },
  { resource: pods, kind: "Pod", fill: (value) => ({ spec: { containers: [{ name: "main", image: value }] } }) },
]

describe("the patrol after drift on both sides", () => {
  test.each([1, 2, 3, 4, 5].map((seed) => [seed]))("patrol and queue bring them together (seed %i)", async (seed) => {
    const random = createRandom(seed)
    const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T
    const superCluster = new FakeCluster({ isSuper: true })
    const tenants = new FakeTenants()
    const known: { tenant: Tenant; cluster: FakeCluster }[] = []
    for (const name of ["acme", "other"]) {
      const tenant = fakeTenant(name)
      const cluster = tenants.add(tenant)
      for (const namespace of ["default", "apps"]) {
        await cluster.create(namespaces, object("Namespace", undefined, namespace))
        await cluster.create(serviceAccounts, object("ServiceAccount", namespace, "default"))
      }
      known.push({ tenant, cluster })
    }
    const start = async (): Promise<Syncer> => {
      const started = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
      await started.whenSynced()
      return started
    }

    /** All changes a tenant can make, and changes to the copies by other clients. */
    const mutate = async (): Promise<void> => {
      const { tenant, cluster } = pick(known)
      const one = pick(kinds)
      const { resource, kind } = one
      const fill = (value: string): object => one.fill(value)
      const namespace = pick(["default", "apps"])
      const name = `o${random(6)}`
      const home = superNamespace(tenant.clusterKey, namespace)
      const inTenant = cluster.find(resource, namespace, name)
      const inSuper = superCluster.find(resource, home, name)
      switch (random(6)) {
        case 0:
          if (inTenant === undefined)
            await cluster.create(resource, object(kind, namespace, name, fill(`v${random(9)}`)))
          break
        case 1:
          if (inTenant !== undefined)
            cluster.edit(resource, namespace, name, fill(`v${random(9)}`) as Record<string, unknown>)
          break
        case 2:
          if (inTenant !== undefined) cluster.remove(resource, namespace, name)
          break
        case 3:
          if (inTenant !== undefined) {
            cluster.remove(resource, namespace, name)
            await cluster.create(resource, object(kind, namespace, name, fill(`v${random(9)}`)))
          }
          break
        case 4:
          if (inSuper !== undefined) superCluster.remove(resource, home, name)
          break
        default:
          if (inSuper !== undefined) {
            const labels = pick<Record<string, string | null>>([{ drift: "1" }, { "tenancy.x-k8s.io/vcname": null }])
            superCluster.edit(resource, home, name, { ...fill("drift"), metadata: { labels } })
          }
      }
    }

    for (let round = 0; round < 4; round++) {
      syncer = await start()
      for (let step = 0; step < 40; step++) await mutate()
      await syncer[Symbol.asyncDispose]()
      // Also while the syncer is not running.
      for (let step = 0; step < 40; step++) await mutate()
    }
    // Copies of deleted Services are kept for a while after their creation, so their age is faked here.
    for (const { metadata } of superCluster.all(services)) {
      superCluster.edit(services, metadata.namespace, metadata.name ?? "", {
        metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
      })
    }
    const finished = await start()
    syncer = finished
    await finished.patrol()
    await eventually(() => differences(superCluster, known).length === 0, { what: "both sides agree" }).catch(
      (error: unknown) => {
        throw new Error(`seed ${seed}: ${differences(superCluster, known).join("; ")}`, { cause: error })
      },
    )
  })
})

test.each([
  ["nobody's", { annotations: null }],
  ["nobody's, as no cache has it,", { annotations: null, labels: null }],
  ["another's", { annotations: { [clusterAnnotation]: "another" } }],
])("removes a deleted pod whose copy is %s by now", async (_, metadata) => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  await harness.running("web")
  superCluster.edit(pods, home, "web", { metadata })
  await harness.settled()
  await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
  await expect.poll(() => cluster.find(pods, "default", "web")).toBeUndefined()
  expect(superCluster.find(pods, home, "web")?.metadata.deletionTimestamp).toBeUndefined()
})

test("what is nobody's, and becomes the copy of another object first, does not become that of this one", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  // A pod needs the account.
  await harness.running("web")
  const { uid } = (await harness.inSuper(serviceAccounts, "default")).metadata
  await harness.settled()
  const patch = superCluster.patch.bind(superCluster)
  let isFirst = true
  superCluster.patch = async (resource, ...rest) => {
    // The syncer hears of it later.
    if (resource === serviceAccounts && isFirst) {
      isFirst = false
      superCluster.edit(serviceAccounts, home, "default", { metadata: { annotations: { [uidAnnotation]: "earlier" } } })
    }
    return patch(resource, ...rest) as never
  }
  superCluster.edit(serviceAccounts, home, "default", { metadata: { annotations: { [uidAnnotation]: null } } })
  const copy = () => superCluster.find(serviceAccounts, home, "default")
  // It is made anew.
  await expect.poll(() => [undefined, uid].includes(copy()?.metadata.uid)).toBe(false)
  await harness.settled()
  const tenants = cluster.find(serviceAccounts, "default", "default")
  expect(copy()?.metadata.annotations?.[uidAnnotation]).toBe(tenants?.metadata.uid)
})
