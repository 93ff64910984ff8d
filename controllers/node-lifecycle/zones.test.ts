import { expect, test } from "vitest"
import type { KubeObject, Node } from "../../apimachinery/object.ts"
import { nodes } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { evictionRate, EvictionPace, zoneOf } from "./zones.ts"

const node = (name: string, ready: string, labels: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    status: { conditions: [{ type: "Ready", status: ready }] },
  }) as KubeObject
const zone = (up: number, down: number): Node[] =>
  Array.from({ length: up + down }, (_, index) => node(`n${index}`, index < up ? "True" : "False") as Node)

test.each([
  { up: 3, down: 1, rate: 0.1 },
  { up: 1, down: 2, rate: 0.1 },
  { up: 3, down: 3, rate: 0.1 },
  { up: 2, down: 3, rate: 0 },
  { up: 20, down: 30, rate: 0 },
  { up: 20, down: 31, rate: 0.01 },
  // The whole zone is gone, and others are not: its pods go elsewhere.
  { up: 0, down: 5, rate: 0.1 },
])("a zone with $up nodes up and $down down is emptied by $rate nodes per second", ({ up, down, rate }) => {
  expect(evictionRate(zone(up, down))).toBe(rate)
})

test("one node goes at once, the next ones in their time, and with another rate at once again", () => {
  const pace = new EvictionPace()
  expect(pace.take("a", 0.1, 0)).toBe(0)
  expect(pace.take("a", 0.1, 4_000)).toBe(6_000)
  expect(pace.take("b", 0.1, 4_000)).toBe(0)
  expect(pace.take("a", 0.1, 10_000)).toBe(0)
  expect(pace.take("a", 0.01, 11_000)).toBe(0)
})

test("a zone is a zone of a region", () => {
  const labels = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r" }
  expect(zoneOf(node("n", "True", labels) as Node)).toBe("r\0z")
  expect(zoneOf(node("n", "True") as Node)).toBe("")
})

test("of a zone that fails in large part no node is emptied, of one that fails as a whole one after the other", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["node-lifecycle"], clock })
  const inZone = (name: string): Record<string, string> => ({ "topology.kubernetes.io/zone": name })
  for (const name of ["a3", "a4", "a5"]) await harness.create(nodes, node(name, "False", inZone("a")))
  for (const name of ["b1", "b2"]) await harness.create(nodes, node(name, "False", inZone("b")))
  // Until there is one that is ready, none is emptied.
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
    expect(emptied()).toHaveLength(1)
  })
  expect(emptied()[0]).toMatch(/^b/)
  clock.advance(10_000)
  await eventually(() => expect(emptied()).toEqual(["b1", "b2"]))
})

test("nodes that are not to count say nothing of how much has failed", async () => {
  await using harness = await startHarness({ only: ["node-lifecycle"], clock: new FakeClock() })
  await harness.create(nodes, node("apart", "True", { "node.kubernetes.io/exclude-disruption": "" }))
  await harness.create(nodes, node("down", "False"))
  const effects = (): (string | undefined)[] =>
    (harness.cluster.find<Node>(nodes, undefined, "down")!.spec?.taints ?? []).map(({ effect }) => effect)
  await eventually(() => expect(effects()).toEqual(["NoSchedule"]))
  await harness.create(nodes, node("up", "True"))
  await eventually(() => expect(effects()).toEqual(["NoSchedule", "NoExecute"]))
  await harness.cluster.delete(nodes, undefined, "up")
  await eventually(() => expect(effects()).toEqual(["NoSchedule"]))
})

test("where no node is to count pods are driven from those that are down", async () => {
  await using harness = await startHarness({ only: ["node-lifecycle"], clock: new FakeClock() })
  await harness.create(nodes, node("down", "False", { "node.kubernetes.io/exclude-disruption": "" }))
  const effects = (): (string | undefined)[] =>
    (harness.cluster.find<Node>(nodes, undefined, "down")!.spec?.taints ?? []).map(({ effect }) => effect)
  await eventually(() => expect(effects()).toEqual(["NoSchedule", "NoExecute"]))
})
