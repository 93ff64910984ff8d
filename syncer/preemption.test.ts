// Preemption among a tenant's pods, and the number of calls to super that waiting pods cause. Which pods are evicted:
// preemption-victims.test.ts.

import { expect, test } from "vitest"
import type { Node, Pod } from "../apimachinery/object.ts"
import { internalError } from "../apimachinery/status.ts"
import { EventRecorder } from "../client/events.ts"
import { namespaces, nodes, pods } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { syncerLimits } from "./options.ts"
import { Preemption } from "./preemption.ts"
import type { SyncContext } from "./resources/resource-sync.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object, podOf, startHarness } from "./testing/harness.ts"

const nodeCount = 10
const waiting = Array.from({ length: 30 }, (_, index) => `waiting-${index}`)

const names = Array.from({ length: nodeCount }, (_, index) => `node-${index}`)
const node = (name: string): Node => ({ apiVersion: "v1", kind: "Node", metadata: { name }, status: {} }) as Node
const pod = (name: string, priority: number, nodeName?: string): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: name },
    spec: { containers: [], priority, ...(nodeName === undefined ? {} : { nodeName }) },
    status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] },
  }) as unknown as Pod

/** Tenants whose pods wait on a cluster where every node has a pod of lower priority that is not in the way. */
function preemption() {
  const clock = new FakeClock()
  const superCluster = new FakeCluster({ isSuper: true })
  let lists = 0
  const list = superCluster.list.bind(superCluster)
  superCluster.list = (...request: Parameters<typeof list>) => {
    lists++
    return list(...request) as never
  }
  const placed = names.map((name) => pod(`on-${name}`, 0, name))
  const byName = new Map(waiting.map((name) => [name, pod(name, 10)]))
  const view = {
    tenantObject: (_: unknown, _namespace: string, name: string) => byName.get(name),
    superObject: (resource: unknown, _namespace: string | undefined, name: string) =>
      resource === nodes ? node(name) : resource === pods ? byName.get(name) : undefined,
    tenantObjects: () => [...placed, ...byName.values()],
  }
  const considered = new Preemption({
    tenants: new FakeTenants(),
    superClient: superCluster,
    clock,
    events: new EventRecorder({ component: "test", clock }),
    contextOf: (tenant) => ({ tenant, view }) as unknown as SyncContext,
  })
  const calls = async (work: () => Promise<unknown>): Promise<number> => {
    const before = lists
    await work()
    return lists - before
  }
  return { considered, clock, calls }
}

test("nodes are examined for a limited number of a tenant's pods, and then for the others", async () => {
  const { considered, clock, calls } = preemption()
  const tenant = fakeTenant("a")
  const due = new Map(waiting.map((name) => [name, clock.elapsed()]))
  const examined: string[] = []
  /** As the queue does: those that are due, in the order of their times. */
  const round = async (): Promise<void> => {
    for (const [name] of [...due].filter(([, at]) => at <= clock.elapsed()).sort(([, a], [, b]) => a - b)) {
      const made = await calls(async () => {
        const outcome = await considered.consider(tenant, "default", name)
        due.set(name, clock.elapsed() + (outcome?.requeueAfterMs ?? Infinity))
      })
      if (made > 0) examined.push(name)
    }
  }
  const { preemptionPods, preemptionRetryMs } = syncerLimits
  expect(await calls(round)).toBe(preemptionPods * nodeCount)
  expect(examined).toEqual(waiting.slice(0, preemptionPods))
  clock.correct(-3_600_000)
  // One after the other, although the first ones are due again.
  for (let passed = 0; passed < 4 * preemptionRetryMs; passed += 100) {
    clock.advance(100)
    await round()
  }
  expect(examined.length).toBeLessThanOrEqual(5 * preemptionPods)
  expect(examined.slice(0, 2 * waiting.length)).toEqual([...waiting, ...waiting])
})

test("what one tenant uses up is not missing for another", async () => {
  const { considered, calls } = preemption()
  for (const name of waiting) await considered.consider(fakeTenant("a"), "default", name)
  expect(await calls(() => considered.consider(fakeTenant("b"), "default", "waiting-0"))).toBe(nodeCount)
})

test("preempts the tenant's own pods of lower priority", async () => {
  await using harness = await startHarness()
  harness.superCluster.edit(nodes, undefined, "node-1", { status: { allocatable: { cpu: "2", pods: "10" } } })
  const asking = (cpu: string, priority: number): object => ({
    priority,
    containers: [{ name: "main", image: "nginx:1", resources: { requests: { cpu } } }],
  })
  await harness.superCluster.create(namespaces, object("Namespace", undefined, "others"))
  await harness.superCluster.create(
    pods,
    object("Pod", "others", "x", { spec: { ...asking("1", 0), nodeName: "node-1" } }),
  )
  for (const [name, priority] of [
    ["low", 1],
    ["high", 100],
  ] as const) {
    await harness.cluster.create(pods, podOf(name, asking("500m", priority)))
    await harness.inSuper(pods, name)
    harness.superCluster.edit(pods, harness.home, name, { spec: { nodeName: "node-1" }, status: { phase: "Running" } })
    await eventually(() => harness.cluster.find<Pod>(pods, "default", name)?.spec?.nodeName, {
      what: `${name} is bound`,
    })
  }
  await harness.cluster.create(pods, podOf("urgent", asking("500m", 1000)))
  await harness.inSuper(pods, "urgent")
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }
  harness.superCluster.edit(pods, harness.home, "urgent", { status: { conditions: [unschedulable] } })
  await eventually(() => harness.cluster.find(pods, "default", "low")?.metadata.deletionTimestamp, { what: "low goes" })
  expect(harness.cluster.find<Pod>(pods, "default", "low")?.status?.conditions).toMatchObject([
    { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" },
  ])
  expect(harness.cluster.find<Pod>(pods, "default", "urgent")?.status?.nominatedNodeName).toBe("node-1")
  expect(harness.cluster.find(pods, "default", "high")?.metadata.deletionTimestamp).toBeUndefined()
  expect(harness.superCluster.find(pods, "others", "x")?.metadata.deletionTimestamp).toBeUndefined()
  // A later pod of lower priority is kept off the node while it is reserved.
  await harness.cluster.create(pods, podOf("next", asking("500m", 1)))
  const next = await harness.inSuper<Pod>(pods, "next")
  expect(JSON.stringify(next.spec)).toContain('"operator":"NotIn","values":["node-1"]')
})

test("makes room for a pod that waited for it when the previous process ended", async () => {
  await using harness = await startHarness()
  harness.superCluster.edit(nodes, undefined, "node-1", { status: { allocatable: { cpu: "1", pods: "10" } } })
  const asking = (priority: number): object => ({
    priority,
    containers: [{ name: "main", image: "nginx:1", resources: { requests: { cpu: "1" } } }],
  })
  await harness.cluster.create(pods, podOf("low", asking(1)))
  await harness.inSuper(pods, "low")
  harness.superCluster.edit(pods, harness.home, "low", { spec: { nodeName: "node-1" }, status: { phase: "Running" } })
  const inTenant = (name: string): Pod | undefined => harness.cluster.find<Pod>(pods, "default", name)
  await eventually(() => inTenant("low")?.spec?.nodeName, { what: "low is bound" })
  // It gets no further than the condition: nodes cannot be examined.
  harness.superCluster.fail = (verb, resource) =>
    verb === "list" && resource === "pods" ? internalError("down") : undefined
  await harness.cluster.create(pods, podOf("urgent", asking(1000)))
  await harness.inSuper(pods, "urgent")
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }
  harness.superCluster.edit(pods, harness.home, "urgent", { status: { conditions: [unschedulable] } })
  await eventually(() => inTenant("urgent")?.status?.conditions?.[0], { what: "the condition" })
  await harness.syncer[Symbol.asyncDispose]()
  harness.superCluster.fail = undefined
  await harness.start()
  await eventually(() => inTenant("low")?.metadata.deletionTimestamp, { what: "low goes" })
})
