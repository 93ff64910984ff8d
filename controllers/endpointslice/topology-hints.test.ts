import { describe, expect, test } from "vitest"
import type { EndpointSlice, KubeObject, Node } from "../../apimachinery/object.ts"
import { createRandom, pick, seeds } from "../../apimachinery/testing/random.ts"
import { endpointSlices, events, nodes, pods, services } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import type { Endpoint } from "./plan.ts"
import { addHints, isOverloaded, sharesOf } from "./topology-hints.ts"

const node = (name: string, zone: string, cpu: string, ready = "True"): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone } },
    status: { allocatable: { cpu }, conditions: [{ type: "Ready", status: ready }] },
  }) as unknown as KubeObject

const shares = (...all: KubeObject[]): unknown => {
  const found = sharesOf(all as Node[])
  return found === undefined ? undefined : Object.fromEntries(found)
}

test("zones are weighted by the processors of their ready nodes", () => {
  expect(shares(node("a", "x", "1"), node("b", "x", "500m"), node("c", "y", "500m"))).toEqual({ x: 0.75, y: 0.25 })
  expect(shares(node("a", "x", "1"), node("b", "y", "1", "False"))).toBeUndefined()
  expect(shares(node("a", "x", "1"), node("b", "", "1"), node("c", "y", "1"))).toBeUndefined()
})

test.each(seeds(50))("no zone gets less than its minimum share (seed %i)", (seed) => {
  const random = createRandom(seed)
  const zones = ["x", "y", "z"].slice(0, 2 + random(2))
  const all = zones.map((zone) => node(zone, zone, String(1 + random(8))) as Node)
  const endpoints = Array.from({ length: 3 + random(40) }, (_, index): Endpoint => {
    return { addresses: [`10.0.0.${index}`], conditions: { ready: true }, zone: pick(random, zones) }
  })
  const parts = sharesOf(all)!
  const { refusal, counts } = addHints(parts, { written: [endpoints], kept: [] })
  const zoneOf = ({ hints }: Endpoint): string | undefined => hints?.forZones?.[0]?.name
  if (refusal !== undefined) return expect(endpoints.every((endpoint) => endpoint.hints === undefined)).toBe(true)
  for (const [zone, part] of parts) {
    const count = endpoints.filter((endpoint) => zoneOf(endpoint) === zone).length
    expect(count).toBeGreaterThanOrEqual(Math.floor((part * endpoints.length) / 1.2))
    expect(counts.get(zone) ?? 0).toBe(count)
  }
  // Hints that are still valid are kept.
  const slice = { endpoints } as unknown as EndpointSlice
  expect(addHints(parts, { written: [], kept: [slice] }).also.length).toBeLessThanOrEqual(1)
})

test("a placeholder slice gives no endpoints", () => {
  const parts = sharesOf([node("a", "x", "1"), node("b", "y", "1")] as Node[])
  // As it is stored.
  const kept = [{ endpoints: null } as unknown as EndpointSlice]
  expect(addHints(parts, { written: [], kept })).toEqual({
    also: [],
    counts: new Map(),
    refusal: "Insufficient number of endpoints (0 endpoints, 2 zones)",
  })
})

test.each([
  ["as many as processors", ["1", "1"], { x: 3, y: 3 }, false],
  ["a fifth more than their share", ["1", "1"], { x: 6, y: 5 }, false],
  ["less than the minimum share in a zone", ["1", "1"], { x: 8, y: 4 }, true],
  ["none in a new zone", ["1", "1", "1"], { x: 3, y: 3 }, true],
  ["some in a removed zone", ["1", "1"], { x: 3, y: 3, z: 1 }, false],
  ["no zones left", ["1"], { x: 3, y: 3 }, true],
])("a Service with %s is reconciled or not", (_, cpus, counts, is) => {
  const all = cpus.map((cpu, index) => node(`n${index}`, ["x", "y", "z"][index] ?? "", cpu) as Node)
  expect(isOverloaded(sharesOf(all), new Map(Object.entries(counts)))).toBe(is)
})

const hintsOf = (harness: Harness): unknown[] =>
  harness.cluster
    .all<EndpointSlice>(endpointSlices)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ hints }) => hints?.forZones?.[0]?.name)
    .sort((a, b) => String(a).localeCompare(String(b)))

async function says(harness: Harness, name: string, status: object): Promise<void> {
  await harness.cluster.patch(nodes, undefined, name, { status }, { type: "merge", subresource: "status" })
}

/** A Service, and its pods on these nodes. */
async function runOn(harness: Harness, names: readonly string[]): Promise<void> {
  for (const [index, nodeName] of names.entries()) {
    await harness.create(pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: `p${index}`, namespace: "default", labels: { app: "web" } },
      spec: { nodeName, containers: [] },
    } as KubeObject)
  }
  await harness.runPods("default")
  const annotations = { "service.kubernetes.io/topology-mode": "Auto" }
  await harness.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default", annotations },
    spec: { clusterIP: "10.0.0.9", selector: { app: "web" }, ports: [{ port: 80 }] },
  } as unknown as KubeObject)
}

describe("a Service in topology mode Auto", () => {
  test("with hints for a removed zone is not changed", async () => {
    await using harness = await startHarness({ only: ["endpointslice"] })
    const zones = ["x", "y", "z"]
    for (const zone of zones) await harness.create(nodes, node(zone, zone, "1"))
    await runOn(harness, ["x", "x", "y", "y", "z", "z"])
    await eventually(() => expect(hintsOf(harness)).toEqual(["x", "x", "y", "y", "z", "z"]))
    await eventually(() => expect(harness.cluster.all(events)).toHaveLength(1))
    // The other zones now have too few endpoints, and no endpoints can be taken from elsewhere.
    await says(harness, "z", { conditions: [{ type: "Ready", status: "False" }] })
    const revision = (): number => Number(harness.cluster.all(endpointSlices)[0]?.metadata.resourceVersion)
    const touch = async (label: string): Promise<number> => {
      await harness.change(services, "default", "web", { metadata: { labels: { [label]: "yes" } } })
      await eventually(() => expect(harness.cluster.all(endpointSlices)[0]?.metadata.labels).toHaveProperty(label))
      return revision()
    }
    // Only the writes of the Service and of its slice.
    const once = await touch("once")
    expect((await touch("again")) - once).toBe(2)
    expect(hintsOf(harness)).toEqual(["x", "x", "y", "y", "z", "z"])
  })

  test("gets hints while zones have enough endpoints, and records an event otherwise", async () => {
    await using harness = await startHarness({ only: ["endpointslice"] })
    await harness.create(nodes, node("a", "x", "1"))
    await harness.create(nodes, node("b", "y", "1"))
    await runOn(harness, ["a", "a", "a", "b"])
    await eventually(() => expect(hintsOf(harness)).toEqual(["x", "x", "y", "y"]))
    const messages = (): unknown[] => harness.cluster.all(events).map((event) => event["message"])
    await eventually(() => expect(messages()).toContain("Topology Aware Hints has been enabled, addressType: IPv4"))
    await harness.cluster.delete(nodes, undefined, "b")
    await eventually(() => expect(hintsOf(harness).filter((hint) => hint !== undefined)).toEqual([]))
    await eventually(() => {
      expect(messages().some((text) => String(text).startsWith("Insufficient Node information"))).toBe(true)
    })
    await harness.create(nodes, node("b", "y", "1"))
    await eventually(() => expect(hintsOf(harness)).toEqual(["x", "x", "y", "y"]))
    // A change of the CPU capacity alone changes nothing.
    await says(harness, "b", { allocatable: { cpu: "9" } })
    await harness.change(services, "default", "web", { metadata: { labels: { touched: "yes" } } })
    await eventually(() => {
      const [slice] = harness.cluster.all<EndpointSlice>(endpointSlices)
      expect(slice?.metadata.labels).toHaveProperty("touched")
    })
    expect(hintsOf(harness)).toEqual(["x", "x", "y", "y"])
    await harness.change(services, "default", "web", { metadata: { annotations: null } })
    await eventually(() => expect(hintsOf(harness)).toEqual([undefined, undefined, undefined, undefined]))
    await eventually(() => expect(messages()).toContain("Topology Aware Hints has been disabled, addressType: IPv4"))
  })
})
