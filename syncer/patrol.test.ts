import { afterEach, describe, expect, test, vi } from "vitest"
import { forbidden } from "../apimachinery/status.ts"
import {
  clusterAnnotation,
  controlledLabel,
  namespaceAnnotation,
  superNamespace,
  virtualClusterNameKey,
  virtualClusterNamespaceKey,
  virtualClusterUIDAnnotation,
} from "../apimachinery/tenancy.ts"
import { countTurns } from "../client/testing/turns.ts"
import { configMaps, namespaces, pods, serviceAccounts } from "../client/resources.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { syncerLimits } from "./options.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object } from "./testing/harness.ts"

let syncer: Syncer | undefined
afterEach(async () => {
  await syncer?.[Symbol.asyncDispose]()
  syncer = undefined
})

async function start(tenants: FakeTenants, superCluster: FakeCluster): Promise<Syncer> {
  syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  await syncer.whenSynced()
  return syncer
}

/** A namespace of an unknown tenant. */
async function lose(superCluster: FakeCluster, name: string, { isMarked = true } = {}): Promise<void> {
  const { clusterKey, virtualCluster } = fakeTenant(name)
  const annotations = {
    ...(isMarked ? { [virtualClusterUIDAnnotation]: virtualCluster.uid } : {}),
    [virtualClusterNameKey]: virtualCluster.name,
    [virtualClusterNamespaceKey]: virtualCluster.namespace,
    [clusterAnnotation]: clusterKey,
    [namespaceAnnotation]: "default",
  }
  const metadata = { name, annotations, labels: { [controlledLabel]: "true" } }
  await superCluster.create(namespaces, { ...object("Namespace", undefined, name), metadata })
}

// A tenant that gives its pods years to end would keep their nodes when it is deleted.
test("pods of a tenant that is gone end soon, if their namespace does", async () => {
  const superCluster = new FakeCluster({ isSuper: true })
  const ending = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 1_000_000_000 }
  const podIn = async (name: string): Promise<void> => {
    await lose(superCluster, name)
    const annotations = { [clusterAnnotation]: fakeTenant(name).clusterKey, [namespaceAnnotation]: "default" }
    const metadata = { name: "p", namespace: name, annotations, labels: { [controlledLabel]: "true" } }
    await superCluster.create(pods, { ...object("Pod", name, "p"), metadata })
    superCluster.edit(pods, name, "p", { metadata: ending })
    superCluster.edit(namespaces, undefined, name, { metadata: { deletionTimestamp: ending.deletionTimestamp } })
  }
  for (const name of ["gone", "known"]) await podIn(name)
  const tenants = new FakeTenants()
  tenants.add(fakeTenant("known"))
  const given = new Map<unknown, unknown>()
  const remove = superCluster.delete.bind(superCluster)
  superCluster.delete = (resource, namespace, name, options) => {
    if (resource.resource === "pods") given.set(namespace, options?.gracePeriodSeconds)
    return remove(resource, namespace, name, options)
  }
  await (await start(tenants, superCluster)).patrol()
  expect(given.get("gone")).toBe(30)
  expect(given.get("known")).not.toBe(30)
})

test("a namespace of a tenant that is gone stays if somebody has made it their own, and that is not heard of yet", async () => {
  const superCluster = new FakeCluster({ isSuper: true })
  await lose(superCluster, "kept")
  const remove = superCluster.delete.bind(superCluster)
  let attempts = 0
  superCluster.delete = (resource, namespace, name, options) => {
    attempts++
    superCluster.edit(resource, namespace, name, { metadata: { labels: null, annotations: null } })
    return remove(resource, namespace, name, options)
  }
  await (await start(new FakeTenants(), superCluster)).patrol()
  expect(attempts).toBeGreaterThan(0)
  expect(superCluster.all(namespaces).map(({ metadata }) => metadata.name)).toEqual(["kept"])
})

describe("a failure with one tenant or namespace", () => {
  const namespacesOf = (cluster: FakeCluster): unknown[] => cluster.all(namespaces).map(({ metadata }) => metadata.name)

  test("does not prevent a patrol from removing others", async () => {
    const superCluster = new FakeCluster({ isSuper: true })
    for (const name of ["gone-0", "gone-1", "gone-2"]) await lose(superCluster, name)
    superCluster.fail = (verb, resource, about) =>
      verb === "delete" && resource === "namespaces" && about?.metadata.name === "gone-0"
        ? forbidden(namespaces, "", "a webhook says so")
        : undefined
    await (await start(new FakeTenants(), superCluster)).patrol()
    expect(namespacesOf(superCluster)).toEqual(["gone-0"])
  })

  test("does not prevent the removal of later ones, however many remain", async () => {
    const superCluster = new FakeCluster({ isSuper: true })
    for (let index = 0; index < syncerLimits.unknownNamespacesPerPatrol; index++)
      await lose(superCluster, `stays-${index}`, { isMarked: false })
    await lose(superCluster, "gone")
    const started = await start(new FakeTenants(), superCluster)
    await started.patrol()
    await started.patrol()
    expect(namespacesOf(superCluster)).not.toContain("gone")
  })

  test("does not prevent the comparison of other tenants", async () => {
    const superCluster = new FakeCluster({ isSuper: true })
    const tenants = new FakeTenants()
    let isBad = false
    const bad = fakeTenant("bad")
    const { virtualCluster, clusterKey } = bad
    Object.defineProperty(bad, "virtualCluster", {
      get() {
        if (isBad) throw new Error("a fault")
        return virtualCluster
      },
    })
    for (const tenant of [bad, fakeTenant("good")])
      await tenants.add(tenant).create(namespaces, object("Namespace", undefined, "default"))
    const started = await start(tenants, superCluster)
    const copy = superNamespace(clusterKey, "default")
    await eventually(() => superCluster.find(namespaces, undefined, copy), { what: "its copy" })
    await eventually(() => started.pending === 0, { what: "the queue is empty" })
    isBad = true
    const { compared } = await started.patrol()
    expect(compared).toBeGreaterThan(0)
  })
})

test("other work is not kept waiting by objects that take long", async () => {
  const tenants = new FakeTenants()
  const tenant = tenants.add(fakeTenant("acme"))
  await tenant.create(namespaces, object("Namespace", undefined, "default"))
  for (let index = 0; index < 100; index++)
    await tenant.create(configMaps, object("ConfigMap", "default", `c${index}`, { data: { a: "b" } }))
  const running = await start(tenants, new FakeCluster({ isSuper: true }))
  await eventually(() => running.pending === 0, { what: "the queue is empty" })
  let now = performance.now()
  using _clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 10))
  using turns = countTurns()
  await running.patrol()
  expect(turns.count).toBeGreaterThan(100)
})

test("10 000 pods without differences are all compared and enqueue no keys", async () => {
  const superCluster = new FakeCluster({ isSuper: true })
  const tenants = new FakeTenants()
  const clusters = ["a", "b", "c", "d"].map((name) => ({
    cluster: tenants.add(fakeTenant(name)),
    tenant: fakeTenant(name),
  }))
  for (const { cluster } of clusters) {
    await cluster.create(namespaces, object("Namespace", undefined, "default"))
    await cluster.create(serviceAccounts, object("ServiceAccount", "default", "default"))
    for (let index = 0; index < 2500; index++) {
      const containers = [{ name: "main", image: "nginx", env: [{ name: "A", value: "b" }] }]
      await cluster.create(pods, {
        ...object("Pod", "default", `pod-${index}`, { spec: { serviceAccountName: "default", containers } }),
        metadata: {
          name: `pod-${index}`,
          namespace: "default",
          labels: { "app.kubernetes.io/name": "web", tier: "front" },
        },
      })
    }
  }
  syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  const running = syncer
  await running.whenSynced()
  await eventually(() => superCluster.all(pods).length === 10_000 && running.pending === 0, { what: "all in super" })
  const status = {
    phase: "Running",
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({ type, status: "True" })),
    containerStatuses: [{ name: "main", ready: true, state: { running: { startedAt: "2026-01-01T00:00:00Z" } } }],
  }
  for (const { metadata } of superCluster.all(pods))
    superCluster.edit(pods, metadata.namespace, metadata.name ?? "", { status })
  const allUp = (): boolean =>
    running.pending === 0 &&
    clusters.every(({ cluster }) => cluster.all(pods).every((pod) => pod["status"] !== undefined))
  await eventually(allUp, { what: "all statuses up" })
  const report = await running.patrol()
  expect(report.compared).toBeGreaterThanOrEqual(10_000)
  expect(report.enqueued).toEqual(new Map())
})
