// Races: tenants, namespaces and copies that disappear or are replaced between two steps of the syncer.

import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import type { KubeObject, PersistentVolumeClaim as Claim, Pod } from "../apimachinery/object.ts"
import { forbidden, serviceUnavailable } from "../apimachinery/status.ts"
import { controlledLabel, superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import { events, namespaces, nodes, persistentVolumeClaims, pods, serviceAccounts } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer, type Syncer } from "./main.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const tenant = fakeTenant("acme")
const home = superNamespace(tenant.clusterKey, "apps")
let superCluster: FakeCluster
let tenants: FakeTenants
let cluster: FakeCluster
let syncer: Syncer

const make = (of: FakeCluster, resource: Resource, object: Partial<KubeObject>): Promise<KubeObject> =>
  of.create(resource, { apiVersion: "v1", kind: "", metadata: {}, ...object })

async function makeNamespace(): Promise<KubeObject> {
  const made = await make(cluster, namespaces, { metadata: { name: "apps" } })
  await make(cluster, serviceAccounts, { metadata: { namespace: "apps", name: "default" } })
  return made
}

const makePod = (name: string, spec: object = {}): Promise<KubeObject> =>
  make(cluster, pods, { metadata: { namespace: "apps", name }, spec: { containers: [{ name: "main" }], ...spec } })

const copyOf = (name: string): Promise<Pod> =>
  eventually(() => superCluster.find<Pod>(pods, home, name), { what: `${name} in super` })

beforeEach(async () => {
  superCluster = new FakeCluster({ isSuper: true })
  await make(superCluster, nodes, { metadata: { name: "node-1" }, spec: {} })
  tenants = new FakeTenants()
  cluster = tenants.add(tenant)
  await makeNamespace()
  syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  await syncer.whenSynced()
})
afterEach(() => syncer[Symbol.asyncDispose]())

async function running(name: string, spec: object = {}): Promise<Pod> {
  await makePod(name, spec)
  await copyOf(name)
  const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
  superCluster.edit(pods, home, name, { spec: { nodeName: "node-1" }, status })
  const find = (): Pod | undefined => cluster.find<Pod>(pods, "apps", name)
  await eventually(() => find()?.status?.phase === "Running", { what: `${name} runs` })
  return find() as Pod
}

/** Another syncer, which hears of what happens in the tenant after hold() only with deliver(). */
async function startWithLateNews() {
  const late: (() => void)[] = []
  let isLate = false
  const tell = (hear: () => void): void => void (isLate ? late.push(hear) : hear())
  const watch = tenants.watch.bind(tenants)
  tenants.watch = (resource, handler, signal) =>
    watch(resource, { ...handler, event: (event) => tell(() => handler.event(event as never)) }, signal)
  await syncer[Symbol.asyncDispose]()
  syncer = await startSyncer({ tenants, superClient: superCluster, patrolPeriodMs: 3_600_000 })
  const deliver = (): void => {
    isLate = false
    for (const hear of late) hear()
  }
  return { hold: () => (isLate = true), deliver }
}

test("a key that is in progress when its tenant is removed is not retried", async () => {
  await makePod("web")
  const copy = await copyOf("web")
  cluster.fail = (verb, resource) => {
    if (verb !== "create" || resource !== "events") return undefined
    tenants.remove("acme")
    return serviceUnavailable("going")
  }
  const involvedObject = { kind: "Pod", namespace: home, name: "web", uid: copy.metadata.uid }
  await make(superCluster, events, { metadata: { namespace: home, name: "web.1" }, involvedObject })
  await eventually(() => tenants.get("acme") === undefined, { what: "the tenant is gone" })
  await eventually(() => syncer.delayed + syncer.pending === 0, { what: "no key waits" })
})

test("nothing is written into the copy of an earlier namespace of the same name", async () => {
  await makePod("old")
  await copyOf("old")
  superCluster.fail = (verb, resource) =>
    verb === "delete" && resource === "namespaces" ? serviceUnavailable("busy") : undefined
  const ownerUIDs: unknown[] = []
  superCluster.onChange(({ type, resource }) => {
    if (type !== "ADDED" || resource !== "pods") return
    ownerUIDs.push(superCluster.find(namespaces, undefined, home)?.metadata.annotations?.[uidAnnotation])
  })
  cluster.remove(namespaces, undefined, "apps")
  const { metadata } = await makeNamespace()
  await makePod("new")
  await eventually(() => syncer.pending === 0, { what: "all attempts are made" })
  superCluster.fail = undefined
  await copyOf("new")
  expect(ownerUIDs).toEqual([metadata.uid])
})

test("a pod whose copy has lost its marks is not reported as lost", async () => {
  const before = await running("web", { restartPolicy: "Never" })
  superCluster.edit(pods, home, "web", { metadata: { labels: { [controlledLabel]: null } } })
  const labels = (): Record<string, string> => superCluster.find(pods, home, "web")?.metadata.labels ?? {}
  await eventually(() => labels()[controlledLabel] === "true", { what: "it is marked again" })
  expect(cluster.find<Pod>(pods, "apps", "web")).toMatchObject({
    metadata: { uid: before.metadata.uid },
    status: { phase: "Running" },
  })
})

test("a pod whose copy is deleted by hand runs again, although the kubelet reports its end", async () => {
  const before = await running("web")
  const { uid } = await copyOf("web")
  const metadata = { deletionTimestamp: "2026-01-01T00:01:00Z", deletionGracePeriodSeconds: 30 }
  const containerStatuses = [{ name: "main", state: { terminated: { exitCode: 137 } } }]
  superCluster.edit(pods, home, "web", { metadata, status: { phase: "Failed", containerStatuses } })
  const status = (): Pod["status"] => cluster.find<Pod>(pods, "apps", "web")?.status
  const hasEnded = () => status()?.containerStatuses?.[0]?.state?.terminated !== undefined
  await eventually(hasEnded, { what: "the end of its container" })
  superCluster.remove(pods, home, "web")
  const again = await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "another copy" })
  expect(again.metadata.uid).not.toBe(uid)
  expect(again.spec?.nodeName).toBe("node-1")
  expect(cluster.find(pods, "apps", "web")?.metadata.uid).toBe(before.metadata.uid)
})

test("a pod that runs to its end is not run again, also if the syncer has not yet heard of its end from the tenant", async () => {
  tenant.quota = { pods: 1 }
  onTestFinished(() => void delete tenant.quota)
  const news = await startWithLateNews()
  await running("web", { restartPolicy: "OnFailure" })
  news.hold()
  superCluster.edit(pods, home, "web", { status: { phase: "Succeeded" } })
  const hasEnded = (): boolean => cluster.find<Pod>(pods, "apps", "web")?.status?.phase === "Succeeded"
  await eventually(hasEnded, { what: "its end" })
  const made: unknown[] = []
  superCluster.onChange(({ type, resource }) => void (type === "ADDED" && resource === "pods" && made.push(type)))
  superCluster.remove(pods, home, "web")
  await syncer.patrol()
  await eventually(() => syncer.pending === 0, { what: "it is compared" })
  expect(made).toEqual([])
  news.deliver()
  // It takes nothing of the quota.
  await makePod("next")
  await copyOf("next")
})

test("a claim whose copy is deleted by hand keeps its volume, also if the syncer has not yet heard of that from the tenant", async () => {
  const { hold, deliver } = await startWithLateNews()
  await make(cluster, persistentVolumeClaims, { metadata: { namespace: "apps", name: "data" }, spec: {} })
  const copy = (): Claim | undefined => superCluster.find<Claim>(persistentVolumeClaims, home, "data")
  await eventually(copy, { what: "the copy" })
  hold()
  const annotations = { "pv.kubernetes.io/bind-completed": "yes" }
  superCluster.edit(persistentVolumeClaims, home, "data", { metadata: { annotations }, spec: { volumeName: "pv-1" } })
  const volume = (): unknown => cluster.find<Claim>(persistentVolumeClaims, "apps", "data")?.spec?.volumeName
  await eventually(() => volume() === "pv-1", { what: "the tenant's claim has its volume" })
  superCluster.remove(persistentVolumeClaims, home, "data")
  await eventually(copy, { what: "the copy is made anew" })
  deliver()
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect(copy()?.spec?.volumeName).toBe("pv-1")
})

test("a copy that the syncer has not seen becomes what the tenant's object is by now, not what the syncer has heard of it", async () => {
  const news = await startWithLateNews()
  await makePod("web", { restartPolicy: "Never" })
  await copyOf("web")
  news.hold()
  cluster.edit(pods, "apps", "web", { spec: { containers: [{ name: "main", image: "nginx:2" }] } })
  superCluster.edit(pods, home, "web", { metadata: { labels: { [controlledLabel]: null } } })
  const copy = (): Pod | undefined => superCluster.find<Pod>(pods, home, "web")
  await eventually(() => copy()?.metadata.labels?.[controlledLabel] === "true", { what: "it is marked again" })
  expect(copy()?.spec?.containers[0]?.image).toBe("nginx:2")
  news.deliver()
})

test("a pod that is deleted by force soon leaves its name, whatever time it had to end", async () => {
  await running("web", { terminationGracePeriodSeconds: 3600 })
  const given = () => superCluster.find(pods, home, "web")?.metadata.deletionGracePeriodSeconds
  await cluster.delete(pods, "apps", "web")
  await eventually(() => given() === 3600, { what: "it is being deleted" })
  await cluster.delete(pods, "apps", "web", { gracePeriodSeconds: 0 })
  await eventually(() => given() === 1, { what: "it has less time" })
})

test("events of an earlier pod are not mirrored to a new pod of the same name", async () => {
  await makePod("web")
  const copy = await copyOf("web")
  const about = (uid: string | undefined, name: string): Promise<KubeObject> =>
    make(superCluster, events, {
      metadata: { namespace: home, name },
      involvedObject: { kind: "Pod", namespace: home, name: "web", uid },
    })
  await about("of-an-earlier-one", "web.1")
  await about(copy.metadata.uid, "web.2")
  const uidIn = (name: string): Promise<unknown> =>
    eventually(() => cluster.find(events, "apps", name), { what: name }).then(
      ({ involvedObject }) => (involvedObject as { uid?: string }).uid,
    )
  expect(await uidIn("web.2")).toBe(cluster.find(pods, "apps", "web")?.metadata.uid)
  expect(await uidIn("web.1")).toBeUndefined()
})

test("an event that the tenant refuses is not offered again", async () => {
  await makePod("web")
  const copy = await copyOf("web")
  let attempts = 0
  cluster.fail = (verb, resource) => {
    if (verb !== "create" || resource !== "events") return undefined
    attempts++
    return forbidden(events, "web.1", "a webhook of the tenant denies it")
  }
  const involvedObject = { kind: "Pod", namespace: home, name: "web", uid: copy.metadata.uid }
  await make(superCluster, events, { metadata: { namespace: home, name: "web.1" }, involvedObject })
  await eventually(() => attempts === 1, { what: "one attempt" })
  await eventually(() => syncer.delayed + syncer.pending === 0, { what: "no key waits" })
})

test("a kubelet's condition that is written concurrently with the tenant's is kept", async () => {
  const gate = "example.com/ready"
  await running("web", { readinessGates: [{ conditionType: gate }] })
  let isFirst = true
  superCluster.fail = (verb, resource) => {
    if (verb !== "patch" || resource !== "pods" || !isFirst) return undefined
    isFirst = false
    superCluster.edit(pods, home, "web", { status: { conditions: [{ type: "Initialized", status: "True" }] } })
    return undefined
  }
  cluster.edit(pods, "apps", "web", { status: { conditions: [{ type: gate, status: "True" }] } })
  const conditionTypes = (): string[] =>
    superCluster.find<Pod>(pods, home, "web")?.status?.conditions?.map(({ type }) => type) ?? []
  await eventually(() => conditionTypes().includes(gate), { what: "the gate's condition" })
  expect(conditionTypes()).toContain("Initialized")
})

test("a tenant's condition that is written concurrently with super's is kept, and addresses are not accumulated", async () => {
  await running("web")
  const ip = (address: string) => ({ podIP: address, podIPs: [{ ip: address }] })
  superCluster.edit(pods, home, "web", {
    status: { ...ip("10.1.0.7"), conditions: [{ type: "Ready", status: "False" }] },
  })
  const status = () => cluster.find<Pod>(pods, "apps", "web")?.status
  const types = () => status()?.conditions?.map(({ type }) => type) ?? []
  await eventually(() => types().includes("Ready"), { what: "not ready" })
  const eviction = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }
  let isFirst = true
  cluster.fail = (verb, resource) => {
    if (verb !== "patch" || resource !== "pods" || !isFirst) return undefined
    isFirst = false
    cluster.edit(pods, "apps", "web", { status: { conditions: [{ type: "Ready", status: "False" }, eviction] } })
    return undefined
  }
  superCluster.edit(pods, home, "web", {
    status: { ...ip("10.1.0.8"), conditions: [{ type: "Ready", status: "True" }] },
  })
  await eventually(() => status()?.podIP === "10.1.0.8", { what: "the other address" })
  expect(status()?.conditions).toEqual([{ type: "Ready", status: "True" }, eviction])
  expect(status()?.podIPs).toEqual([{ ip: "10.1.0.8" }])
})

test("fields removed from a gate's condition are removed in super", async () => {
  const gate = "example.com/ready"
  await running("web", { readinessGates: [{ conditionType: gate }] })
  const reportCondition = (condition: object): void =>
    void cluster.edit(pods, "apps", "web", { status: { conditions: [{ type: gate, ...condition }] } })
  const there = (): unknown => superCluster.find<Pod>(pods, home, "web")?.status?.conditions
  reportCondition({ status: "False", reason: "Waiting", message: "for others" })
  await eventually(() => JSON.stringify(there()).includes("Waiting"), { what: "the reason" })
  reportCondition({ status: "True" })
  await eventually(() => JSON.stringify(there()).includes("True"), { what: "ready" })
  expect(there()).toEqual([{ type: gate, status: "True" }])
})

test("what somebody in super has disowned is not deleted with the tenant's object, if that is not heard of yet", async () => {
  const metadata = { namespace: "apps", name: "data" }
  await make(cluster, persistentVolumeClaims, { metadata, spec: {} })
  const copy = (): KubeObject | undefined => superCluster.find(persistentVolumeClaims, home, "data")
  await eventually(() => copy() !== undefined, { what: "the copy" })
  const remove = superCluster.delete.bind(superCluster)
  let attempts = 0
  superCluster.delete = async (...call: Parameters<typeof remove>) => {
    const [resource, namespace, name] = call
    if (resource === persistentVolumeClaims && attempts++ === 0) {
      superCluster.edit(resource, namespace, name, { metadata: { labels: null, annotations: null } })
    }
    return remove(...call)
  }
  await cluster.delete(persistentVolumeClaims, "apps", "data")
  await eventually(() => attempts > 0, { what: "an attempt" })
  await syncer.patrol()
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect(copy()).toBeDefined()
  expect(copy()?.metadata.deletionTimestamp).toBeUndefined()
})
