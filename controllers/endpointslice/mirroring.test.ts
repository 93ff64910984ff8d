import { describe, expect, test } from "vitest"
import type { Endpoints, EndpointSlice, KubeObject } from "../../apimachinery/object.ts"
import { endpoints, endpointSlices, events, services } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { LateCluster } from "../testing/late-cluster.ts"
import { mirror } from "./mirror.ts"

const only = ["endpointslice-mirroring", "garbage-collector"]

const service = (): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "db", namespace: "default" },
  spec: { ports: [{ port: 5432 }] },
})

const written = (metadata: object = {}, subsets: object[] = [subset()]): KubeObject => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name: "db", namespace: "default", labels: { team: "a" }, ...metadata },
  subsets,
})

function subset(addresses: object[] = [{ ip: "192.0.2.1" }, { ip: "192.0.2.2", hostname: "b" }]): object {
  return {
    addresses,
    notReadyAddresses: [{ ip: "2001:db8::1" }],
    ports: [{ name: "sql", port: 5432, protocol: "TCP" }],
  }
}

const slicesOf = (harness: Harness): EndpointSlice[] =>
  harness.cluster.all<EndpointSlice>(endpointSlices).sort((a, b) => (a.addressType < b.addressType ? -1 : 1))

describe("Endpoints of a Service without a selector", () => {
  test("are mirrored to one slice per address family", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(
      endpoints,
      written({ annotations: { "endpoints.kubernetes.io/last-change-trigger-time": "x", a: "b" } }),
    )
    const ports = [{ name: "sql", port: 5432, protocol: "TCP" }]
    await eventually(() => {
      expect(slicesOf(harness)).toMatchObject([
        {
          metadata: {
            annotations: { a: "b" },
            labels: {
              team: "a",
              "kubernetes.io/service-name": "db",
              "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
            },
            ownerReferences: [{ kind: "Endpoints", name: "db", controller: true }],
          },
          addressType: "IPv4",
          endpoints: [
            { addresses: ["192.0.2.1"], conditions: { ready: true } },
            { addresses: ["192.0.2.2"], hostname: "b" },
          ],
          ports,
        },
        { addressType: "IPv6", endpoints: [{ addresses: ["2001:db8::1"], conditions: { ready: false } }], ports },
      ])
    })
    const names = slicesOf(harness).map(({ metadata }) => metadata.name)
    await harness.change(endpoints, "default", "db", { subsets: [subset([{ ip: "192.0.2.9" }])] })
    await eventually(() => expect(slicesOf(harness)[0]!.endpoints).toMatchObject([{ addresses: ["192.0.2.9"] }]))
    expect(slicesOf(harness).map(({ metadata }) => metadata.name)).toEqual(names)
    await harness.change(endpoints, "default", "db", { subsets: null })
    await eventually(() => expect(slicesOf(harness)).toEqual([]))
  })

  test("are mirrored again when a slice is changed or deleted", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written({}, [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 1 }] }]))
    await eventually(() => expect(slicesOf(harness)).toHaveLength(1))
    const { name = "" } = slicesOf(harness)[0]!.metadata
    await harness.change(endpointSlices, "default", name, { endpoints: [] })
    await eventually(() => expect(slicesOf(harness)[0]!.endpoints).toHaveLength(1))
    await harness.cluster.delete(endpointSlices, "default", name)
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(1))
  })

  test("whose slice is given to another controller are not mirrored again until it is back", async () => {
    const labels = { "endpointslice.kubernetes.io/managed-by": "other.example.com" }
    const subsets = (ip: string): object[] => [{ addresses: [{ ip }], ports: [{ port: 1 }] }]
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written({}, subsets("192.0.2.1")))
    await eventually(() => expect(slicesOf(harness)).toHaveLength(1))
    const { name = "", labels: before } = slicesOf(harness)[0]!.metadata
    await harness.change(endpointSlices, "default", name, { metadata: { labels } })
    await harness.change(endpoints, "default", "db", { subsets: subsets("192.0.2.2") })
    const later = { name: "later", namespace: "default" }
    await harness.create(services, { ...service(), metadata: later })
    await harness.create(endpoints, { ...written({}, subsets("192.0.2.3")), metadata: later })
    const ips = (): Set<unknown> => new Set(slicesOf(harness).map(({ endpoints: all }) => all?.[0]?.addresses[0]))
    await eventually(() => expect(ips()).toContain("192.0.2.3"))
    expect(ips()).toEqual(new Set(["192.0.2.1", "192.0.2.3"]))
    await harness.change(endpointSlices, "default", name, { metadata: { labels: before } })
    await eventually(() => expect(ips()).toEqual(new Set(["192.0.2.2", "192.0.2.3"])))
    expect(slicesOf(harness).map((slice) => slice.metadata.name)).toContain(name)
  })

  test("that are made again are not mirrored twice while the cache does not show the slices of the former", async () => {
    const clock = new FakeClock()
    const cluster = new LateCluster(endpointSlices, { clock })
    cluster.hold()
    await using harness = await startHarness({ only: ["endpointslice-mirroring"], cluster, clock })
    await harness.create(services, service())
    const subsets = [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 1 }] }]
    await harness.create(endpoints, written({}, subsets))
    await eventually(() => expect(slicesOf(harness)).toHaveLength(1))
    await harness.cluster.delete(endpoints, "default", "db")
    const { metadata } = await harness.create(endpoints, written({}, subsets))
    for (let turns = 0; turns < 20; turns++) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(10)
    }
    expect(slicesOf(harness)).toHaveLength(1)
    cluster.release()
    await eventually(() => {
      clock.advance(100)
      expect(slicesOf(harness)).toMatchObject([{ metadata: { ownerReferences: [{ uid: metadata.uid }] } }])
    })
  })

  test.each([
    ["with the skip-mirror label", { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }, {}],
    ["for leader election", { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } }, {}],
    ["whose Service has a selector", {}, { selector: { app: "db" } }],
  ])("are not mirrored if they are ones %s", async (_, metadata, spec) => {
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written())
    await eventually(() => expect(slicesOf(harness)).toHaveLength(2))
    await harness.change(services, "default", "db", { spec })
    await harness.change(endpoints, "default", "db", { metadata })
    await eventually(() => expect(slicesOf(harness)).toEqual([]))
  })

  test("lose their slices with the Service or the Endpoints", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written())
    await eventually(() => expect(slicesOf(harness)).toHaveLength(2))
    await harness.cluster.delete(services, "default", "db")
    await eventually(() => expect(slicesOf(harness)).toEqual([]))
    await harness.create(services, service())
    await eventually(() => expect(slicesOf(harness)).toHaveLength(2))
    await harness.cluster.delete(endpoints, "default", "db")
    await eventually(() => expect(slicesOf(harness)).toEqual([]))
  })

  test("beyond the limit are reported by an event", async () => {
    const many = Array.from({ length: 1010 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }))
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written({}, [{ addresses: many, ports: [{ port: 1 }] }]))
    await eventually(() => {
      expect(slicesOf(harness)[0]!.endpoints).toHaveLength(1000)
      expect(harness.cluster.all(events)).toMatchObject([
        {
          reason: "TooManyAddressesToMirror",
          message:
            "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 10 addresses were skipped",
        },
      ])
    })
  })

  test("whose ports have too many addresses together are reported by an event, and their slices stay", async () => {
    const numbers = Array.from({ length: 450 }, (_, n) => n)
    const portOf = (n: number): object => ({ name: `p${n}`, port: n + 1 })
    const own = numbers.map((n) => ({ addresses: [{ ip: `10.0.${n >> 8}.${n & 255}` }], ports: [portOf(n)] }))
    const shared = numbers.map((n) => ({ ip: `10.1.${n >> 8}.${n & 255}` }))
    await using harness = await startHarness({ only })
    await harness.create(services, service())
    await harness.create(endpoints, written())
    await eventually(() => expect(slicesOf(harness)).toHaveLength(2))
    const before = slicesOf(harness)
    await harness.change(endpoints, "default", "db", {
      subsets: [...own, { addresses: shared, ports: numbers.map(portOf) }],
    })
    const message = "Nothing is mirrored to EndpointSlices: the ports of the subsets have too many addresses together"
    await eventually(() => expect(harness.cluster.all(events)).toMatchObject([{ type: "Warning", message }]))
    expect(slicesOf(harness)).toEqual(before)
  })
})

describe("mirror()", () => {
  test("creates one slice for ports with the same addresses, regardless of subsets", () => {
    const addresses = [{ ip: "192.0.2.1" }]
    const apart = [
      { addresses, ports: [{ name: "a", port: 1 }] },
      { addresses, ports: [{ name: "b", port: 2 }] },
    ]
    expect(mirror(written({}, apart) as Endpoints, [])?.create).toMatchObject([
      {
        ports: [
          { name: "a", port: 1 },
          { name: "b", port: 2 },
        ],
      },
    ])
  })

  test("counts invalid addresses and rewrites a slice with other ports", () => {
    const before = mirror(written() as Endpoints, [])!.create[0]!
    const present = { ...before, metadata: { ...before.metadata, name: "db-1", uid: "u", resourceVersion: "1" } }
    const now = written({}, [{ addresses: [{ ip: "192.0.2.1" }, { ip: "no address" }], ports: [{ port: 1 }] }])
    const found = mirror(now as Endpoints, [present])!
    expect(found).toMatchObject({ create: [], delete: [], invalid: 1, skipped: 1 })
    expect(found.update).toMatchObject([{ metadata: { name: "db-1" }, ports: [{ name: "", port: 1 }] }])
  })
})
