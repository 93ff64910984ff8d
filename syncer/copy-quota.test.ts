// A tenant has no more copies than its quota allows, whatever its own objects say.

import { expect, test } from "vitest"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { events, namespaces, persistentVolumeClaims, pods, runtimeClasses } from "../client/resources.ts"
import type { TenantQuota } from "../client/tenants.ts"
import { eventually } from "../test/harness/eventually.ts"
import { syncerLimits } from "./options.ts"
import { object, podOf, startHarness } from "./testing/harness.ts"

type Harness = Awaited<ReturnType<typeof startHarness>>

async function startLimited(quota: TenantQuota): Promise<Harness> {
  const harness = await startHarness()
  harness.tenant.quota = quota
  return harness
}

const refusal = (harness: Harness): Promise<unknown> =>
  eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedCreate")?.["message"], {
    what: "an event",
  })

test("a running pod that the tenant says has ended still counts, until its copy has ended", async () => {
  await using harness = await startLimited({ pods: 1 })
  await harness.running("web")
  // The syncer restores it, but not before the tenant has created the next.
  harness.superCluster.fail = (verb, resource) => {
    if (verb === "create" && resource === "pods") throw new Error("created beyond the quota")
    return undefined
  }
  harness.cluster.edit(pods, "default", "web", { status: { phase: "Succeeded" } })
  await harness.cluster.create(pods, podOf("more"))
  expect(await refusal(harness)).toBe(
    'pods "more" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=1, limited: pods=1',
  )
  harness.superCluster.fail = undefined
  harness.superCluster.edit(pods, harness.home, "web", { status: { phase: "Succeeded" } })
  await harness.inSuper(pods, "more")
})

test("a pod that the tenant has removed by force counts until its copy is gone", async () => {
  await using harness = await startLimited({ pods: 1 })
  await harness.running("web")
  harness.superCluster.edit(pods, harness.home, "web", { metadata: { finalizers: ["example.com/held"] } })
  await harness.cluster.delete(pods, "default", "web", { gracePeriodSeconds: 0 })
  await harness.cluster.create(pods, podOf("more"))
  expect(await refusal(harness)).toContain("used: pods=1, limited: pods=1")
  harness.superCluster.remove(pods, harness.home, "web")
  await harness.inSuper(pods, "more")
})

test("copies that are made at the same time do not exceed it together", async () => {
  await using harness = await startLimited({ pods: 5 })
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`)
  await Promise.all(names.map((name) => harness.cluster.create(pods, podOf(name))))
  await refusal(harness)
  await harness.settled()
  expect(harness.superCluster.all(pods)).toHaveLength(5)
})

test("places of copies that super refuses, and of those deleted at once, are free again", async () => {
  await using harness = await startLimited({ pods: 1 })
  harness.superCluster.fail = (verb, resource, made) => {
    if (verb === "create" && resource === "pods" && made?.metadata.name === "refused") throw new Error("refused")
    return undefined
  }
  await harness.cluster.create(pods, podOf("refused"))
  await harness.settled()
  // It would be tried again, and find no place while the others have theirs.
  await harness.cluster.delete(pods, "default", "refused", { gracePeriodSeconds: 0 })
  await harness.settled()
  for (const name of ["a", "b", "c"]) {
    await harness.cluster.create(pods, podOf(name))
    await harness.inSuper(pods, name)
    await harness.cluster.delete(pods, "default", name, { gracePeriodSeconds: 0 })
    await eventually(() => harness.superCluster.find(pods, harness.home, name) === undefined, { what: "deleted" })
  }
  expect(harness.cluster.all(events).filter(({ reason }) => reason === "FailedCreate")).toEqual([])
})

test("namespaces that still end in super count", async () => {
  await using harness = await startLimited({ namespaces: 1 })
  const inSuper = (name: string) => superNamespace(harness.tenant.clusterKey, name)
  const found = (name: string) => harness.superCluster.find(namespaces, undefined, inSuper(name))
  await harness.settled()
  harness.tenant.quota = { namespaces: harness.superCluster.all(namespaces).length + 1 }
  await harness.cluster.create(namespaces, object("Namespace", undefined, "apps"))
  await eventually(() => found("apps"), { what: "apps" })
  harness.superCluster.edit(namespaces, undefined, inSuper("apps"), {
    metadata: { finalizers: ["example.com/held"] },
  })
  await harness.cluster.delete(namespaces, undefined, "apps")
  await eventually(() => found("apps")?.metadata.deletionTimestamp, { what: "apps ends" })
  await harness.cluster.create(namespaces, object("Namespace", undefined, "other"))
  expect(await refusal(harness)).toMatch(/^namespaces "other" is forbidden: exceeded quota: tenant, requested: /)
  harness.superCluster.remove(namespaces, undefined, inSuper("apps"))
  await eventually(() => found("other"), { what: "other" })
})

test("claims are limited over all namespaces", async () => {
  await using harness = await startLimited({ persistentVolumeClaims: 1 })
  const claim = (name: string) => object("PersistentVolumeClaim", "default", name, { spec: {} })
  await harness.cluster.create(persistentVolumeClaims, claim("a"))
  await harness.inSuper(persistentVolumeClaims, "a")
  await harness.cluster.create(persistentVolumeClaims, claim("b"))
  expect(await refusal(harness)).toContain('persistentvolumeclaims "b" is forbidden: exceeded quota: tenant')
})

test("runtime classes, which every kubelet of super keeps in memory, are limited for every tenant", async () => {
  await using harness = await startHarness()
  const names = Array.from({ length: syncerLimits.runtimeClasses + 1 }, (_, index) => `class-${index}`)
  for (const name of names) {
    const made = { ...object("RuntimeClass", undefined, name, { handler: "h" }), apiVersion: "node.k8s.io/v1" }
    await harness.cluster.create(runtimeClasses, made)
  }
  expect(await refusal(harness)).toMatch(/^runtimeclasses\.node\.k8s\.io "class-16" is forbidden: exceeded quota: /)
  await harness.settled()
  expect(harness.superCluster.all(runtimeClasses)).toHaveLength(syncerLimits.runtimeClasses)
  await harness.cluster.delete(runtimeClasses, undefined, "class-0")
  await eventually(
    () => harness.superCluster.all(runtimeClasses).some(({ metadata }) => metadata.name?.endsWith("-class-16")),
    { what: "the last one" },
  )
})
