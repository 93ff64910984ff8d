// The super objects of a sleeping tenant: kept folded in memory, and reconciled when a change wakes the tenant.

import { expect, test, vi } from "vitest"
import type { ConfigMap, KubeObject } from "../apimachinery/object.ts"
import { forbidden } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { type Clock, systemClock } from "../client/clock.ts"
import { silentLog } from "../client/log.ts"
import { configMaps, events, namespaces, nodes, pods } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { TenantUse } from "../client/tenants.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { Caches } from "./clusters/caches.ts"
import { startSyncer } from "./main.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { podOf, startHarness } from "./testing/harness.ts"
import { holdLists } from "./testing/hold-lists.ts"

const configMap = (name: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "default", name },
  data: { text: name, more: "x".repeat(1_000) },
})

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "default")

async function begin(clock: Clock = systemClock) {
  const superCluster = new FakeCluster({ isSuper: true })
  const tenants = new FakeTenants()
  const cluster = tenants.add(tenant)
  await cluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } })
  for (const name of ["one", "two"]) await cluster.create(configMaps, configMap(name))
  const syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 3_600_000 })
  await syncer.whenSynced()
  const copies = (): string[] =>
    superCluster
      .all(configMaps)
      .map(({ metadata, data }: KubeObject & { data?: unknown }) => `${metadata.name} ${JSON.stringify(data)}`)
      .toSorted()
  const both = ["one", "two"].map((name) => `${name} ${JSON.stringify(configMap(name).data)}`)
  await eventually(() => expect(copies()).toEqual(both), { what: "both copies are there" })
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  return { superCluster, tenants, cluster, syncer, copies, both }
}

/** No syncer runs any more, and a copy has been changed. */
async function changedWithoutSyncer() {
  const begun = await begin()
  await begun.syncer[Symbol.asyncDispose]()
  begun.superCluster.edit(configMaps, home, "one", { data: { text: "by hand" } })
  return begun
}

test("copies that are changed or deleted while their tenant sleeps are restored", async () => {
  const { superCluster, tenants, syncer, copies, both } = await begin()
  await using _ = syncer
  tenants.sleep(tenant.name)
  superCluster.edit(configMaps, home, "one", { data: { text: "by hand" } })
  await eventually(() => expect(copies()).toEqual(both), { what: "the change is undone" })
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  tenants.sleep(tenant.name)
  await superCluster.delete(configMaps, home, "two")
  await eventually(() => expect(copies()).toEqual(both), { what: "the copy is recreated" })
})

test("copies that were changed while no syncer ran are restored, even if their tenant falls asleep before the super cluster is listed", async () => {
  const { superCluster, tenants, copies, both } = await changedWithoutSyncer()
  const releaseLists = holdLists(superCluster)
  await using _ = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  // What has been delivered by then.
  await tenants.client(tenant.name).list(configMaps)
  tenants.sleep(tenant.name)
  releaseLists()
  await eventually(() => expect(copies()).toEqual(both), { what: "the change is undone" })
})

test("a tenant that falls asleep before all of its kinds have been delivered is woken again, and compared", async () => {
  const { superCluster, tenants, copies, both } = await changedWithoutSyncer()
  const late = Promise.withResolvers<void>()
  const watch = tenants.watch.bind(tenants)
  tenants.watch = (resource, ...rest) => {
    if (resource === configMaps) void late.promise.then(() => watch(resource, ...rest))
    else watch(resource, ...rest)
  }
  await using again = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  await again.whenSynced()
  tenants.sleep(tenant.name)
  late.resolve()
  await eventually(() => expect(copies()).toEqual(both), { what: "the change is undone" })
})

test("objects that a tenant deletes after waking are deleted from the super cluster", async () => {
  const { tenants, cluster, syncer, copies, both } = await begin()
  await using _ = syncer
  tenants.sleep(tenant.name)
  tenants.wake(tenant.name)
  await cluster.delete(configMaps, "default", "two")
  await eventually(() => expect(copies()).toEqual([both[0]]), { what: "the copy is gone" })
})

test("copies of a sleeping tenant are folded per kind until they are read", async () => {
  const { superCluster, tenants, syncer } = await begin()
  await using _ = syncer
  const caches = new Caches({ tenants, superClient: superCluster, clock: systemClock, log: silentLog })
  const stopped = new AbortController()
  await caches.start(stopped.signal)
  const copied = caches.superInformer(configMaps)
  for (let time = 0; time < 2; time++) {
    expect([caches.superInformer(namespaces).folded, copied.folded]).toEqual([[], [home]])
    expect(caches.copiesOf(configMaps, tenant.clusterKey).map(({ metadata }) => metadata.name)).toEqual(["one", "two"])
    expect(copied.folded).toEqual([])
    for (const resource of [namespaces, configMaps]) caches.fold(resource, tenant.clusterKey)
  }
  stopped.abort()
})

test.each([
  ["super", {}],
  ["its quota", { pods: 0 }],
])("nothing of a tenant is used for the sake of pods that %s refuses again and again", async (_what, quota) => {
  await using harness = await startHarness()
  const { cluster, superCluster, tenants } = harness
  const used: string[] = []
  const clientOf = tenants.client.bind(tenants)
  const counting = (client: KubeClient): KubeClient =>
    new Proxy(client, {
      get:
        (of, name) =>
        (...args: unknown[]) => {
          used.push(String(name))
          return (Reflect.get(of, name) as (...args: unknown[]) => unknown).apply(of, args)
        },
    })
  tenants.client = (name: string, { isUse = true }: TenantUse = {}) =>
    isUse ? counting(clientOf(name)) : clientOf(name)
  harness.tenant.quota = quota
  superCluster.fail = (verb, resource) =>
    verb === "create" && resource === "pods" ? forbidden(pods, "web", "no") : undefined
  await cluster.create(pods, podOf("web", { restartPolicy: "Never" }))
  const isTold = (): boolean => cluster.all(events).some(({ reason }) => reason === "FailedCreate")
  await eventually(isTold, { what: "the refusal" })
  expect(used).toEqual([])
})

test("what a tenant itself refuses is no use of it and does not wake it, and is offered again when it has woken", async () => {
  const clock = new FakeClock(Date.now())
  const { superCluster, tenants, cluster, syncer } = await begin(clock)
  await using _ = syncer
  await superCluster.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } })
  await eventually(() => cluster.find(nodes, undefined, "node-1"), { what: "the node" })
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  let refused = 0
  cluster.fail = (verb, resource) => {
    if (verb !== "patch" || resource !== "nodes") return undefined
    refused++
    return forbidden(nodes, "node-1", "no")
  }
  const client = vi.spyOn(tenants, "client")
  const wake = vi.spyOn(tenants, "wake")
  superCluster.edit(nodes, undefined, "node-1", { metadata: { labels: { zone: "b" } } })
  for (const time of [1, 2, 3]) {
    await eventually(() => refused === time && syncer.delayed === 1, { what: `refusal ${time}` })
    if (time < 3) clock.advance(100_000)
  }
  expect(client.mock.calls.map(([, use]) => use?.isUse ?? true)).toEqual([true, false, false])
  tenants.sleep(tenant.name)
  clock.advance(100_000)
  await eventually(() => syncer.delayed === 0 && syncer.pending === 0, { what: "nothing is left to do" })
  expect(wake).not.toHaveBeenCalled()
  cluster.fail = () => undefined
  tenants.wake(tenant.name)
  await eventually(() => cluster.find(nodes, undefined, "node-1")?.metadata.labels?.["zone"] === "b", {
    what: "the label",
  })
})
