import { describe, expect, test } from "vitest"
import type { EndpointSlice, KubeObject, Node } from "../../apimachinery/object.ts"
import { createRandom, pick, seeds } from "../../apimachinery/testing/random.ts"
import { endpointSlices, events, nodes, pods, services } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import type { Endpoint } from "./plan.ts"
import { addHints, sharesOf } from "./topology-hints.ts"

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

test("zones share by the processors of their ready nodes", () => {
  expect(shares(node("a", "x", "1"), node("b", "x", "500m"), node("c", "y", "500m"))).toEqual({ x: 0.75, y: 0.25 })
  expect(shares(node("a", "x", "1"), node("b", "y", "1", "False"))).toBeUndefined()
  expect(shares(node("a", "x", "1"), node("b", "", "1"), node("c", "y", "1"))).toBeUndefined()
})

test.each(seeds(50))("no zone gets less than its least share (seed %i)", (seed) => {
  const random = createRandom(seed)
  const zones = ["x", "y", "z"].slice(0, 2 + random(2))
  const all = zones.map((zone) => node(zone, zone, String(1 + random(8))) as Node)
  const endpoints = Array.from({ length: 3 + random(40) }, (_, index): Endpoint => {
    return { addresses: [`10.0.0.${index}`], conditions: { ready: true }, zone: pick(random, zones) }
  })
  const parts = sharesOf(all)!
  const { refusal } = addHints(parts, { written: [endpoints], kept: [] })
  const zoneOf = ({ hints }: Endpoint): string | undefined => hints?.forZones?.[0]?.name
  if (refusal !== undefined) return expect(endpoints.every((endpoint) => endpoint.hints === undefined)).toBe(true)
  for (const [zone, part] of parts) {
    const count = endpoints.filter((endpoint) => zoneOf(endpoint) === zone).length
    expect(count).toBeGreaterThanOrEqual(Math.floor((part * endpoints.length) / 1.2))
  }
  // What has hints that fit keeps them.
  const slice = { endpoints } as unknown as EndpointSlice
  expect(addHints(parts, { written: [], kept: [slice] }).also.length).toBeLessThanOrEqual(1)
})

test("a slice that stands for no endpoints has none to give", () => {
  const parts = sharesOf([node("a", "x", "1"), node("b", "y", "1")] as Node[])
  // As it is stored.
  const kept = [{ endpoints: null } as unknown as EndpointSlice]
  expect(addHints(parts, { written: [], kept })).toEqual({
    also: [],
    refusal: "Insufficient number of endpoints (0 endpoints, 2 zones)",
  })
})

const hintsOf = (harness: Harness): unknown[] =>
  harness.cluster
    .all<EndpointSlice>(endpointSlices)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ hints }) => hints?.forZones?.[0]?.name)
    .sort((a, b) => String(a).localeCompare(String(b)))

describe("a Service in topology mode Auto", () => {
  test("gets hints while zones have enough endpoints, and tells when not", async () => {
    await using harness = await startHarness({ only: ["endpointslice"] })
    await harness.create(nodes, node("a", "x", "1"))
    await harness.create(nodes, node("b", "y", "1"))
    for (const [index, nodeName] of ["a", "a", "a", "b"].entries()) {
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
    await eventually(() => expect(hintsOf(harness)).toEqual(["x", "x", "y", "y"]))
    const told = (): unknown[] => harness.cluster.all(events).map((event) => event["message"])
    await eventually(() => expect(told()).toContain("Topology Aware Hints has been enabled, addressType: IPv4"))
    await harness.cluster.delete(nodes, undefined, "b")
    await eventually(() => expect(hintsOf(harness).filter((hint) => hint !== undefined)).toEqual([]))
    await eventually(() => {
      expect(told().some((text) => String(text).startsWith("Insufficient Node information"))).toBe(true)
    })
    await harness.create(nodes, node("b", "y", "1"))
    await eventually(() => expect(hintsOf(harness)).toEqual(["x", "x", "y", "y"]))
    await harness.change(services, "default", "web", { metadata: { annotations: null } })
    await eventually(() => expect(hintsOf(harness)).toEqual([undefined, undefined, undefined, undefined]))
    await eventually(() => expect(told()).toContain("Topology Aware Hints has been disabled, addressType: IPv4"))
  })
})
