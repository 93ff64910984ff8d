import { expect, test } from "vitest"
import type { KubeObject, Node } from "../../apimachinery/object.ts"
import { forbidden } from "../../apimachinery/status.ts"
import { chance, createRandom, pick, seedOf } from "../../apimachinery/testing/random.ts"
import { nodes, pods } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { evictionRate, EvictionPace, NodeCounts, zoneOf } from "./zones.ts"

const node = (name: string, ready: string, labels: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    status: { conditions: [{ type: "Ready", status: ready }] },
  }) as KubeObject
test.each([
  { up: 3, down: 1, rate: 0.1 },
  { up: 1, down: 2, rate: 0.1 },
  { up: 3, down: 3, rate: 0.1 },
  { up: 2, down: 3, rate: 0 },
  { up: 20, down: 30, rate: 0 },
  { up: 20, down: 31, rate: 0.01 },
  // The whole zone is down and others are not: its pods are evicted.
  { up: 0, down: 5, rate: 0.1 },
])("a zone with $up nodes up and $down down evicts $rate nodes per second", ({ up, down, rate }) => {
  expect(evictionRate({ up, down })).toBe(rate)
})

test("nodes are counted one by one as all of them together", () => {
  const seed = seedOf()
  const random = createRandom(seed)
  const counts = new NodeCounts([])
  const nodes = new Map<string, Node>()
  const zones = ["a", "b"]
  const decided = (): unknown[] => {
    const counted = [...nodes.values()].filter(
      ({ metadata }) => !("node.kubernetes.io/exclude-disruption" in metadata.labels!),
    )
    const isUp = ({ status }: Node): boolean => status!.conditions![0]!.status === "True"
    const rates = zones.map((zone) => {
      const up = counted.filter((each) => zoneOf(each) === zoneOf(inZone(zone)) && isUp(each)).length
      return evictionRate({ up, down: counted.filter((each) => zoneOf(each) === zoneOf(inZone(zone))).length - up })
    })
    return [counted.length > 0 && !counted.some(isUp), ...rates]
  }
  const inZone = (zone: string): Node => node("", "True", { "topology.kubernetes.io/zone": zone }) as Node
  for (let step = 0; step < 2_000; step++) {
    const before = decided()
    const name = `n${random(12)}`
    const labels = {
      "topology.kubernetes.io/zone": pick(random, zones),
      ...(chance(random, 0.2) ? { "node.kubernetes.io/exclude-disruption": "" } : {}),
    }
    const next = chance(random, 0.2)
      ? undefined
      : (node(name, pick(random, ["True", "False", "False"]), labels) as Node)
    if (next === undefined) nodes.delete(name)
    else nodes.set(name, next)
    const isChanged = next === undefined ? counts.delete(name) : counts.set(next)
    const after = decided()
    const context = `seed ${seed}, step ${step}`
    expect([counts.isAllDown, ...zones.map((zone) => counts.rateOf(zoneOf(inZone(zone))))], context).toEqual(after)
    expect(isChanged, context).toBe(before.join() !== after.join())
  }
})

test("the first node is evicted immediately, and the next ones at the rate of their zone", () => {
  const pace = new EvictionPace()
  expect(pace.take("a", 0)).toBe(0)
  expect(pace.take("a", 4_000)).toBe(6_000)
  expect(pace.take("b", 4_000)).toBe(0)
  expect(pace.take("a", 10_000)).toBe(0)
})

/** As SwapLimiter in upstream's scheduler/rate_limited_queue.go. */
test.each([
  { what: "nodes that need not wait are evicted immediately", rates: [0.1, 0.01], at: 10_000, waitMs: 0 },
  { what: "nodes that wait do so at the new rate", rates: [0.1, 0.01], at: 9_000, waitMs: 100_000 },
  { what: "nodes that were not evicted wait", rates: [0.1, 0, 0.1], at: 60_000, waitMs: 10_000 },
])("when the rate changes, $what", ({ rates, at, waitMs }) => {
  const pace = new EvictionPace()
  pace.take("a", 0)
  for (const rate of rates) pace.follow("a", rate, at)
  expect(pace.take("a", at)).toBe(waitMs)
})

test("a zone is identified by region and zone, by their former labels if present", () => {
  const labels = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r" }
  expect(zoneOf(node("n", "True", labels) as Node)).toBe("r\0z")
  expect(zoneOf(node("n", "True") as Node)).toBe("")
  const former = { ...labels, "failure-domain.beta.kubernetes.io/zone": "" }
  expect(zoneOf(node("n", "True", former) as Node)).toBe("r\0")
})

test("nodes of a partially disrupted zone are not evicted, those of a fully disrupted zone at the rate", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["node-lifecycle"], clock })
  const inZone = (name: string): Record<string, string> => ({ "topology.kubernetes.io/zone": name })
  for (const name of ["a3", "a4", "a5"]) await harness.create(nodes, node(name, "False", inZone("a")))
  for (const name of ["b1", "b2"]) await harness.create(nodes, node(name, "False", inZone("b")))
  // No node's pods are evicted until one node is ready.
  for (const name of ["a1", "a2"]) await harness.create(nodes, node(name, "True", inZone("a")))
  const emptied = (): string[] =>
    harness.cluster
      .all<Node>(nodes)
      .filter(({ spec }) => (spec?.taints ?? []).some(({ effect }) => effect === "NoExecute"))
      .map(({ metadata }) => metadata.name ?? "")
  const marked = (): number =>
    harness.cluster.all<Node>(nodes).filter(({ spec }) => (spec?.taints ?? []).length > 0).length
  await eventually(() => {
    expect(marked()).toBe(5)
    expect(emptied()).toEqual([])
  })
  await eventually(() => {
    clock.advance(1_000)
    expect(emptied()).toEqual(["b1", "b2"])
  })
})

test("nodes that wait for their eviction are still listened to", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["node-lifecycle"], clock })
  const inZone = { "topology.kubernetes.io/zone": "a" }
  // Of so many, one is evicted in 100 s.
  for (let index = 0; index < 52; index++) {
    await harness.create(nodes, node(`n${index}`, index < 20 ? "True" : "False", inZone))
  }
  const count = (is: string): number =>
    harness.cluster.all<Node>(nodes).filter(({ status }) => status?.conditions?.[0]?.status === is).length
  const marked = (): number =>
    harness.cluster.all<Node>(nodes).filter(({ spec }) => (spec?.taints ?? []).length > 0).length
  await eventually(() => expect(marked()).toBe(32))
  // Only those that are ready say something more, so that their zone stays as it is.
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      clock.advance(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await seconds(30)
  const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z" }]
  for (let index = 0; index < 20; index++)
    await harness.cluster.patch(
      nodes,
      undefined,
      `n${index}`,
      { status: { conditions } },
      { type: "merge", subresource: "status" },
    )
  await seconds(25)
  await eventually(() => expect([count("True"), count("False"), count("Unknown")]).toEqual([20, 0, 32]))
})

test("nodes are evicted in their turn, also if their pods cannot be marked as not ready", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["node-lifecycle"], clock })
  harness.cluster.fail = (verb, resource) =>
    verb === "update" && resource === "pods" ? forbidden(pods, "p", "") : undefined
  const silent = Array.from({ length: 8 }, (_, index) => `n${index}`)
  const others = Array.from({ length: 8 }, (_, index) => `up${index}`)
  for (const name of silent) {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec: { nodeName: name } }
    const conditions = [{ type: "Ready", status: "True" }]
    await harness.create(pods, { ...pod, status: { phase: "Running", conditions } } as KubeObject)
  }
  for (const name of [...silent, ...others]) await harness.create(nodes, node(name, "True"))
  const report = async (name: string): Promise<void> => {
    const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: new Date(clock.now()).toISOString() }]
    const patch = { status: { conditions } }
    await harness.cluster.patch(nodes, undefined, name, patch, { type: "merge", subresource: "status" })
  }
  const emptied = (): string[] =>
    harness.cluster
      .all<Node>(nodes)
      .filter(({ spec }) => (spec?.taints ?? []).some(({ effect }) => effect === "NoExecute"))
      .map(({ metadata }) => metadata.name ?? "")
  const since = clock.now()
  await eventually(async () => {
    for (const name of others) await report(name)
    clock.advance(1_000)
    expect(emptied()).toEqual(silent)
  })
  // The first one after less than a minute, then one in 10 s.
  expect(clock.now() - since).toBeLessThan(180_000)
})

test("excluded nodes do not count for a zone's state", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["node-lifecycle"], clock })
  await harness.create(nodes, node("apart", "True", { "node.kubernetes.io/exclude-disruption": "" }))
  await harness.create(nodes, node("down", "False"))
  const effects = (): (string | undefined)[] =>
    (harness.cluster.find<Node>(nodes, undefined, "down")!.spec?.taints ?? []).map(({ effect }) => effect)
  await eventually(() => expect(effects()).toEqual(["NoSchedule"]))
  await harness.create(nodes, node("up", "True"))
  await eventually(() => {
    clock.advance(1_000)
    expect(effects()).toEqual(["NoSchedule", "NoExecute"])
  })
  await harness.cluster.delete(nodes, undefined, "up")
  await eventually(() => expect(effects()).toEqual(["NoSchedule"]))
})

test("with all nodes excluded, pods are evicted from unavailable nodes", async () => {
  await using harness = await startHarness({ only: ["node-lifecycle"], clock: new FakeClock() })
  await harness.create(nodes, node("down", "False", { "node.kubernetes.io/exclude-disruption": "" }))
  const effects = (): (string | undefined)[] =>
    (harness.cluster.find<Node>(nodes, undefined, "down")!.spec?.taints ?? []).map(({ effect }) => effect)
  await eventually(() => expect(effects()).toEqual(["NoSchedule", "NoExecute"]))
})
