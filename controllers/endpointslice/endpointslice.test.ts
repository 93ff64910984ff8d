import { describe, expect, test } from "vitest"
import type { Endpoints, EndpointSlice, KubeObject, Pod } from "../../apimachinery/object.ts"
import { endpoints, endpointSlices, nodes, pods, services } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"
import { triggerTimeAnnotation } from "./trigger-times.ts"

const only = ["endpoints", "endpointslice", "garbage-collector"]

function service(spec: object = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default", labels: { team: "a" } },
    spec: {
      clusterIP: "10.96.0.10",
      ipFamilies: ["IPv4"],
      selector: { app: "web" },
      ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }],
      ...spec,
    },
  }
}

function pod(name: string, port = 8080): KubeObject {
  const ports = [{ name: "http", containerPort: port, protocol: "TCP" }]
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels: { app: "web" } },
    spec: { nodeName: "node-1", containers: [{ name: "c", ports }] },
  }
}

async function start(): Promise<Harness> {
  const harness = await startHarness({ only })
  await harness.create(nodes, node("node-1"))
  return harness
}

function node(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "topology.kubernetes.io/zone": `of-${name}` } } }
}

const slicesOf = (harness: Harness): EndpointSlice[] => harness.cluster.all<EndpointSlice>(endpointSlices)
const endpointsOf = (harness: Harness): Endpoints | undefined =>
  harness.cluster.find<Endpoints>(endpoints, "default", "web")

describe("a Service with a selector", () => {
  test("has the ready and not ready addresses of its pods in Endpoints and EndpointSlices", async () => {
    await using harness = await start()
    await harness.create(services, service())
    const a = await harness.create<Pod>(pods, pod("a"))
    const b = await harness.create<Pod>(pods, pod("b"))
    await harness.create(pods, pod("without-address"))
    await harness.setPod(a, "Running", true, "10.0.0.1")
    await harness.setPod(b, "Running", false, "10.0.0.2")
    const target = (of: Pod): object => ({
      kind: "Pod",
      namespace: "default",
      name: of.metadata.name,
      uid: of.metadata.uid,
    })
    await eventually(() => {
      expect(endpointsOf(harness)).toMatchObject({
        metadata: { labels: { team: "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller" } },
        subsets: [
          {
            addresses: [{ ip: "10.0.0.1", nodeName: "node-1", targetRef: target(a) }],
            notReadyAddresses: [{ ip: "10.0.0.2", nodeName: "node-1", targetRef: target(b) }],
            ports: [{ name: "http", port: 8080, protocol: "TCP" }],
          },
        ],
      })
      const [slice, ...others] = slicesOf(harness)
      expect(others).toEqual([])
      expect(slice!.metadata.name).toMatch(/^web-/)
      expect(slice!.metadata.labels).toEqual({
        team: "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      })
      expect(slice!.metadata.ownerReferences).toMatchObject([{ kind: "Service", name: "web", controller: true }])
      expect(slice).toMatchObject({ addressType: "IPv4", ports: [{ name: "http", port: 8080, protocol: "TCP" }] })
      const conditions = (slice!.endpoints ?? []).map((endpoint) => [endpoint.addresses, endpoint.conditions])
      expect(conditions).toEqual([
        [["10.0.0.1"], { ready: true, serving: true, terminating: false }],
        [["10.0.0.2"], { ready: false, serving: false, terminating: false }],
      ])
    })
  })

  test.each([
    ["IPv4", "10.0.0.010", "10.0.0.10"],
    ["IPv4", "::ffff:10.0.0.1", "10.0.0.1"],
    ["IPv6", "FD00:0::7", "fd00::7"],
  ])("has an address of its pods (%s %s) as Go prints it", async (family, podIP, ip) => {
    await using harness = await start()
    await harness.create(services, service({ clusterIP: "None", ipFamilies: [family] }))
    await harness.setPod(await harness.create<Pod>(pods, pod("a")), "Running", true, podIP)
    await eventually(() => {
      expect(endpointsOf(harness)?.subsets).toMatchObject([{ addresses: [{ ip }] }])
      expect(slicesOf(harness).map(({ addressType, endpoints: all }) => [addressType, all?.[0]?.addresses])).toEqual([
        [family, [ip]],
      ])
    })
  })

  // The API gives each Service its families; older objects may have none.
  test.each(["None", "::ffff:10.96.0.10"])(
    "without families has that of its canonical address (%s)",
    async (clusterIP) => {
      await using harness = await start()
      await harness.create(services, service({ clusterIP, ipFamilies: undefined }))
      await harness.setPod(await harness.create<Pod>(pods, pod("a")), "Running", true, "::ffff:10.0.0.1")
      await eventually(() => {
        expect(endpointsOf(harness)?.subsets).toMatchObject([{ addresses: [{ ip: "10.0.0.1" }] }])
        const slices = slicesOf(harness).filter(({ endpoints: all = [] }) => (all ?? []).length > 0)
        expect(slices.map(({ addressType, endpoints: all }) => [addressType, all?.[0]?.addresses])).toEqual([
          ["IPv4", ["10.0.0.1"]],
        ])
      })
    },
  )

  test("records the trigger time of a pod's change, and none for a change of the Service", async () => {
    const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"))
    await using harness = await startHarness({ only, clock, cluster: new FakeCluster({ clock }) })
    await harness.create(nodes, node("node-1"))
    await harness.create(services, service())
    const written = async (holds: string, trigger: string | undefined): Promise<void> =>
      eventually(() => {
        const all = [endpointsOf(harness), ...slicesOf(harness)]
        expect(all).toHaveLength(2)
        for (const object of all) {
          expect(JSON.stringify(object)).toContain(holds)
          expect(object?.metadata.annotations?.[triggerTimeAnnotation]).toBe(trigger)
        }
      })
    await written("team", "2026-01-01T00:00:00Z")
    const a = await harness.create<Pod>(pods, pod("a"))
    clock.advance(60_000)
    await harness.setPod(a, "Running", true, "10.0.0.1")
    await written("10.0.0.1", "2026-01-01T00:01:00Z")
    clock.advance(60_000)
    await harness.change(services, "default", "web", { metadata: { labels: { team: "b" } } })
    await written('"team":"b"', undefined)
    const b = await harness.create<Pod>(pods, pod("b"))
    await harness.setPod(b, "Running", true, "10.0.0.2")
    await written("10.0.0.2", "2026-01-01T00:02:00Z")
    await harness.cluster.delete(pods, "default", "a")
    await written("10.0.0.2", undefined)
    await harness.change(services, "default", "web", { metadata: { labels: { team: "c" } } })
    await written('"team":"c"', undefined)
  })

  test("with many pods is written once for changes that come together", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(nodes, node("node-1"))
    await harness.create(services, service())
    const names = Array.from({ length: 200 }, (_, index) => `p${index}`)
    const all = await Promise.all(names.map((name) => harness.create<Pod>(pods, pod(name))))
    const setAll = async (isReady: boolean): Promise<void> => {
      for (const [index, one] of all.entries()) await harness.setPod(one, "Running", isReady, `10.0.0.${index}`)
    }
    const updates = (): number => harness.cluster.calls.get("update endpoints") ?? 0
    const addresses = (of: "addresses" | "notReadyAddresses"): number =>
      (endpointsOf(harness)?.subsets ?? []).reduce((sum, subset) => sum + (subset[of]?.length ?? 0), 0)
    await setAll(true)
    await eventually(() => {
      clock.advance(10)
      expect(addresses("addresses")).toBe(200)
    })
    const before = updates()
    await setAll(false)
    expect(updates()).toBe(before)
    await eventually(() => {
      clock.advance(10)
      expect(addresses("notReadyAddresses")).toBe(200)
      expect(
        slicesOf(harness).flatMap((slice) => (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready)),
      ).toEqual([])
    })
    expect(updates()).toBe(before + 1)
  })

  test("keeps terminating pods that still serve only in its slices", async () => {
    await using harness = await start()
    await harness.create(services, service())
    const held = pod("a")
    const a = await harness.create<Pod>(pods, { ...held, metadata: { ...held.metadata, finalizers: ["test/hold"] } })
    await harness.setPod(a, "Running", true, "10.0.0.1")
    await eventually(() => expect(endpointsOf(harness)?.subsets).toHaveLength(1))
    await harness.cluster.delete(pods, "default", "a")
    await eventually(() => {
      expect(endpointsOf(harness)?.subsets).toEqual([])
      expect(slicesOf(harness)[0]!.endpoints![0]!.conditions).toEqual({
        ready: false,
        serving: true,
        terminating: true,
      })
    })
    await harness.change(pods, "default", "a", { metadata: { finalizers: null } })
    await eventually(() => expect(slicesOf(harness).flatMap((slice) => slice.endpoints ?? [])).toEqual([]))
  })

  test("has an empty slice while it has no pods", async () => {
    await using harness = await start()
    await harness.create(services, service())
    await eventually(() =>
      expect(slicesOf(harness)).toMatchObject([{ addressType: "IPv4", endpoints: null, ports: null }]),
    )
  })

  test("has one group per resolved value of a named port", async () => {
    await using harness = await start()
    await harness.create(services, service())
    await harness.create(pods, pod("a", 8080))
    await harness.create(pods, pod("b", 9090))
    await harness.runPods("default")
    await eventually(() => {
      const ports = slicesOf(harness).map((slice) => slice.ports![0]!.port!)
      expect(ports.sort((a, b) => a - b)).toEqual([8080, 9090])
      expect(
        endpointsOf(harness)!
          .subsets!.map((subset) => subset.ports![0]!.port)
          .sort((a, b) => a - b),
      ).toEqual([8080, 9090])
    })
  })

  test("without a cluster IP is labelled headless and has host names", async () => {
    await using harness = await start()
    await harness.create(services, service({ clusterIP: "None" }))
    const named = pod("a") as Pod
    await harness.create(pods, { ...named, spec: { ...named.spec, hostname: "a", subdomain: "web" } })
    await harness.runPods("default")
    await eventually(() => {
      expect(slicesOf(harness)[0]!.endpoints![0]!.hostname).toBe("a")
      expect(slicesOf(harness)[0]!.metadata.labels).toHaveProperty(["service.kubernetes.io/headless"], "")
      expect(endpointsOf(harness)!.subsets![0]!.addresses![0]!.hostname).toBe("a")
    })
  })

  test("spreads more than a hundred pods over slices", async () => {
    await using harness = await start()
    await harness.create(services, service())
    for (let index = 0; index < 250; index++) await harness.create(pods, pod(`p${index}`))
    await harness.runPods("default")
    await eventually(() => {
      const sizes = slicesOf(harness).map((slice) => slice.endpoints!.length)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(250)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
      expect(sizes.length).toBeLessThanOrEqual(4)
    })
  })

  test("omits pods of an unknown node until the node exists", async () => {
    await using harness = await start()
    await harness.create(services, service())
    const elsewhere = pod("a") as Pod
    await harness.create(pods, { ...elsewhere, spec: { ...elsewhere.spec, nodeName: "node-2" } } as Pod)
    await harness.runPods("default")
    await eventually(() => expect(endpointsOf(harness)?.subsets).toHaveLength(1))
    expect(slicesOf(harness).flatMap((slice) => slice.endpoints ?? [])).toEqual([])
    await harness.create(nodes, node("node-2"))
    await eventually(() => expect(slicesOf(harness)[0]!.endpoints![0]!.zone).toBe("of-node-2"))
    expect(slicesOf(harness)).toHaveLength(1)
  })

  test("has topology hints for its traffic distribution", async () => {
    await using harness = await start()
    await harness.create(services, service({ trafficDistribution: "PreferSameNode" }))
    await harness.create(pods, pod("a"))
    await harness.runPods("default")
    const hints = (): unknown => slicesOf(harness)[0]?.endpoints?.[0]?.hints
    await eventually(() =>
      expect(hints()).toEqual({ forZones: [{ name: "of-node-1" }], forNodes: [{ name: "node-1" }] }),
    )
    await harness.change(services, "default", "web", { spec: { trafficDistribution: "PreferSameZone" } })
    await eventually(() => expect(hints()).toEqual({ forZones: [{ name: "of-node-1" }] }))
    await harness.change(services, "default", "web", { spec: { trafficDistribution: null } })
    await eventually(() => expect(hints()).toBeUndefined())
  })

  test("keeps the name of a slice whose ports change", async () => {
    await using harness = await start()
    await harness.create(services, service())
    await harness.create(pods, pod("a"))
    await harness.runPods("default")
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(1))
    const { name } = slicesOf(harness)[0]!.metadata
    await harness.change(services, "default", "web", { spec: { ports: [{ name: "x", port: 80, targetPort: 9 }] } })
    await eventually(() => {
      expect(slicesOf(harness)).toMatchObject([{ metadata: { name }, ports: [{ name: "x", port: 9 }] }])
    })
  })

  test("deletes slices that only claim to be its own", async () => {
    await using harness = await start()
    await harness.create(services, service())
    await harness.create(pods, pod("a"))
    await harness.runPods("default")
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(1))
    const { labels = {}, name } = slicesOf(harness)[0]!.metadata
    await harness.create(endpointSlices, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "by-hand", namespace: "default", labels },
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }],
    } as KubeObject)
    await eventually(() => expect(slicesOf(harness)).toMatchObject([{ metadata: { name } }]))
  })

  test("updates its slices but creates none while it is being deleted", async () => {
    await using harness = await start()
    const held = service()
    await harness.create(services, { ...held, metadata: { ...held.metadata, finalizers: ["test/hold"] } })
    await harness.create(pods, pod("a"))
    await harness.runPods("default")
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(1))
    await harness.cluster.delete(services, "default", "web")
    await harness.create(pods, pod("b"))
    await harness.create(pods, pod("c", 9090))
    await harness.runPods("default")
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(2))
    await eventually(() => expect(endpointsOf(harness)?.subsets).toHaveLength(2))
    expect(slicesOf(harness)).toHaveLength(1)
  })

  test("deletes manual Endpoints of its name with it, but not those that existed without it", async () => {
    await using harness = await start()
    const byHand = (name: string): KubeObject => ({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name, namespace: "default" },
    })
    await harness.create(services, service({ selector: null }))
    await harness.create(endpoints, byHand("web"))
    await harness.create(endpoints, byHand("other"))
    await harness.cluster.delete(services, "default", "web")
    await eventually(() => expect(endpointsOf(harness)).toBeUndefined())
    expect(harness.cluster.find(endpoints, "default", "other")).toBeDefined()
  })

  test("is deleted together with its endpoints", async () => {
    await using harness = await start()
    await harness.create(services, service())
    await harness.create(pods, pod("a"))
    await harness.runPods("default")
    await eventually(() => expect(slicesOf(harness)[0]?.endpoints).toHaveLength(1))
    await harness.cluster.delete(services, "default", "web")
    await eventually(() => {
      expect(slicesOf(harness)).toEqual([])
      expect(endpointsOf(harness)).toBeUndefined()
    })
  })
})
