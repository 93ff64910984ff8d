import { describe, expect, test, vi } from "vitest"
import type { KubeObject, Node, PersistentVolumeClaim } from "../apimachinery/object.ts"
import { forbidden, serviceUnavailable } from "../apimachinery/status.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import {
  configMaps,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  services,
  storageClasses,
} from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { object, podOf, startHarness } from "./testing/harness.ts"

type Harness = Awaited<ReturnType<typeof startHarness>>

test("publishes all nodes to a tenant from the start", async () => {
  await using harness = await startHarness()
  const node = await eventually(() => harness.cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
  expect(node.metadata.labels).toMatchObject({ zone: "a", "tenancy.x-k8s.io/virtualnode": "true" })
  await eventually(() => harness.cluster.find(nodes, undefined, "node-1")?.["status"], { what: "its status" })
})

test("does not copy a node's heartbeat", async () => {
  await using harness = await startHarness()
  await harness.settled()
  const before = harness.cluster.writes.length
  harness.superCluster.edit(nodes, undefined, "node-1", {
    status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2" }] },
  })
  await harness.settled()
  expect(harness.cluster.writes.slice(before)).toEqual([])
})

test("tells a tenant which of its extended resources super does not count on a node", async () => {
  await using harness = await startHarness()
  await harness.settled()
  const capacity = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`example.com/r${10 + index}`, "1"]))
  harness.cluster.edit(nodes, undefined, "node-1", { status: { capacity } })
  const event = await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
    what: "event",
  })
  expect(event).toMatchObject({ involvedObject: { kind: "Node", apiVersion: "v1", name: "node-1" } })
  expect(event["message"]).toContain('does not count "example.com/r26" on this node')
  const found = harness.superCluster.find<Node>(nodes, undefined, "node-1")
  expect(Object.keys(found?.status?.capacity ?? {})).toHaveLength(17) // with cpu
})

test("removes a node that super has deleted", async () => {
  await using harness = await startHarness()
  await eventually(() => harness.cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
  harness.superCluster.remove(nodes, undefined, "node-1")
  await eventually(() => harness.cluster.find(nodes, undefined, "node-1") === undefined, { what: "node-1 is gone" })
})

test("publishes only the default storage class", async () => {
  await using harness = await startHarness()
  const isDefault = { "storageclass.kubernetes.io/is-default-class": "true" }
  await harness.superCluster.create(storageClasses, {
    ...object("StorageClass", undefined, "fast", { provisioner: "p" }),
    metadata: { name: "fast", annotations: isDefault },
  })
  await harness.superCluster.create(storageClasses, object("StorageClass", undefined, "private", { provisioner: "p" }))
  await eventually(() => harness.cluster.find(storageClasses, undefined, "fast"), { what: "fast" })
  await harness.settled()
  expect(harness.cluster.find(storageClasses, undefined, "private")).toBeUndefined()
})

describe("a claim that waits for a class that super does not have", () => {
  const hidden = { provisioner: "example.com/p" }
  const storageClassOf = (more: object): KubeObject => ({
    ...object("StorageClass", undefined, "gold", more),
    apiVersion: "storage.k8s.io/v1",
  })

  async function waiting(harness: Harness): Promise<void> {
    await harness.settled()
    const spec = { storageClassName: "gold" }
    await harness.cluster.create(persistentVolumeClaims, object("PersistentVolumeClaim", "default", "data", { spec }))
    await harness.inSuper(persistentVolumeClaims, "data")
  }

  test("waits no more in super when super gets one that is not for tenants", async () => {
    await using harness = await startHarness()
    await waiting(harness)
    await harness.superCluster.create(storageClasses, storageClassOf(hidden))
    await eventually(() => harness.superCluster.find(persistentVolumeClaims, harness.home, "data") === undefined, {
      what: "the copy is removed",
    })
    const event = await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
      what: "event",
    })
    expect(event["message"]).toContain('"gold" is not a class that the super cluster offers to tenants')
    await harness.settled()
    expect(harness.superCluster.find(persistentVolumeClaims, harness.home, "data")).toBeUndefined()
  })

  test("nor if its tenant sleeps", async () => {
    await using harness = await startHarness()
    await waiting(harness)
    await eventually(() => harness.syncer.pending === 0, { what: "the queue is empty" })
    harness.tenants.sleep(harness.tenant.name)
    await harness.superCluster.create(storageClasses, storageClassOf(hidden))
    await eventually(() => harness.superCluster.find(persistentVolumeClaims, harness.home, "data") === undefined, {
      what: "the copy is removed",
    })
  })

  test("is served by one that is for tenants, and keeps its volume when that is offered no more", async () => {
    await using harness = await startHarness()
    await waiting(harness)
    const labels = { "tenancy.x-k8s.io/super.public": "true" }
    await harness.superCluster.create(storageClasses, storageClassOf({ ...hidden, metadata: { name: "gold", labels } }))
    await harness.settled()
    harness.superCluster.edit(persistentVolumeClaims, harness.home, "data", {
      metadata: { annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { volumeName: "v" },
    })
    await eventually(
      () => harness.cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, "default", "data")?.spec?.volumeName,
      { what: "bound" },
    )
    harness.superCluster.edit(storageClasses, undefined, "gold", { metadata: { labels: null } })
    await harness.settled()
    expect(harness.superCluster.find(persistentVolumeClaims, harness.home, "data")).toBeDefined()
  })
})

test("writes nothing into a namespace of that name that is not the tenant's", async () => {
  await using harness = await startHarness()
  const apps = superNamespace(harness.tenant.clusterKey, "apps")
  await harness.superCluster.create(namespaces, object("Namespace", undefined, apps))
  await harness.cluster.create(namespaces, object("Namespace", undefined, "apps"))
  await harness.cluster.create(configMaps, object("ConfigMap", "apps", "settings", { data: { a: "1" } }))
  await eventually(() => harness.cluster.all(events).length > 0, { what: "an event" })
  await harness.settled()
  expect(harness.superCluster.find(namespaces, undefined, apps)?.metadata.annotations).toBeUndefined()
  expect(harness.superCluster.find(configMaps, apps, "settings")).toBeUndefined()
})

test("reports super's refusal to the tenant and retries", async () => {
  await using harness = await startHarness()
  harness.superCluster.fail = (verb, resource, made) =>
    verb === "create" && resource === "pods"
      ? forbidden({ group: "", resource: "pods" }, made?.metadata.name ?? "", `exceeded quota in ${harness.home}`)
      : undefined
  await harness.cluster.create(pods, podOf("web"))
  const event = await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedCreate"), {
    what: "event",
  })
  expect(event["message"]).toBe('pods "web" is forbidden: exceeded quota in default')
  harness.superCluster.fail = undefined
  await eventually(() => harness.superCluster.find(pods, harness.home, "web"), { what: "created after a retry" })
})

test("mirrors events with the tenant's names and increments their counts", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(pods, podOf("web"))
  const superPod = await harness.inSuper(pods, "web")
  const involvedObject = { kind: "Pod", namespace: harness.home, name: "web", uid: superPod.metadata.uid }
  const related = { kind: "Pod", namespace: "default-other", name: "of-another" }
  const fields = { reason: "Pulled", count: 1, message: `in ${harness.home}: pulled` }
  await harness.superCluster.create(
    events,
    object("Event", harness.home, "web.1", { involvedObject, related, ...fields }),
  )
  const event = await eventually(() => harness.cluster.find(events, "default", "web.1"), { what: "the event" })
  expect(event["message"]).toBe("in default: pulled")
  expect(event["related"]).toBeUndefined()
  expect(event["involvedObject"]).toMatchObject({
    namespace: "default",
    uid: harness.cluster.find(pods, "default", "web")?.metadata.uid,
  })
  harness.superCluster.edit(events, harness.home, "web.1", { count: 2 })
  await eventually(() => harness.cluster.find(events, "default", "web.1")?.["count"] === 2, {
    what: "the count is incremented",
  })
})

test("removes the namespaces of a deleted tenant once its VirtualCluster is deleted", async () => {
  await using harness = await startHarness()
  await harness.inSuper(services, "kubernetes")
  harness.tenants.remove("acme")
  const virtualClusters = {
    group: "tenancy.x-k8s.io",
    version: "v1alpha1",
    resource: "virtualclusters",
    namespaced: true,
  }
  await harness.superCluster.create(namespaces, object("Namespace", undefined, "default"))
  await harness.superCluster.create(virtualClusters, object("VirtualCluster", "default", "acme"))
  harness.superCluster.edit(virtualClusters, "default", "acme", {
    metadata: { uid: harness.tenant.virtualCluster.uid },
  })
  await harness.syncer.patrol()
  expect(harness.superCluster.find(namespaces, undefined, harness.home)).toBeDefined()
  harness.superCluster.remove(virtualClusters, "default", "acme")
  await harness.syncer.patrol()
  expect(harness.superCluster.find(namespaces, undefined, harness.home)).toBeUndefined()
})

test("starts while super is unreachable, and catches up", async () => {
  await using harness = await startHarness()
  await harness.syncer[Symbol.asyncDispose]()
  harness.superCluster.fail = () => serviceUnavailable("connection refused")
  await harness.startUnsynced()
  await harness.cluster.create(pods, podOf("late"))
  harness.superCluster.fail = undefined
  await eventually(() => harness.superCluster.find(pods, harness.home, "late"), { what: "synced in the end" })
})

test("each reconcile waits for the turn of its tenant", async () => {
  await using harness = await startHarness()
  await harness.settled()
  const { tenants, tenant, superCluster, home, cluster } = harness
  const turn = Promise.withResolvers<void>()
  const waiting = vi.spyOn(tenants, "pause").mockReturnValue(turn.promise)
  await cluster.create(configMaps, object("ConfigMap", "default", "waits"))
  await eventually(() => waiting.mock.calls.length > 0, { what: "it waits" })
  expect(waiting).toHaveBeenCalledWith(tenant.name)
  expect(superCluster.find(configMaps, home, "waits")).toBeUndefined()
  waiting.mockReturnValue(undefined)
  turn.resolve()
  await harness.inSuper(configMaps, "waits")
})
