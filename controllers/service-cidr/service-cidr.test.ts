import { describe, expect, test } from "vitest"
import type { IPAddress, KubeObject, ServiceCIDR } from "../../apimachinery/object.ts"
import { ipAddresses, serviceCIDRs, services } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness, eventTexts } from "../testing/harness.ts"
import { LateCluster } from "../testing/late-cluster.ts"
import { contains, overlaps, parseRange, rangeOf, type Range } from "./ranges.ts"

const only = ["service-cidr", "ip-address"]

const cidr = (name: string, ...cidrs: string[]): KubeObject =>
  ({ apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name }, spec: { cidrs } }) as KubeObject
const service = (name: string, ...clusterIPs: string[]): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { clusterIP: clusterIPs[0], clusterIPs },
  }) as unknown as KubeObject

const find = (harness: Harness, name: string): ServiceCIDR | undefined =>
  harness.cluster.find(serviceCIDRs, undefined, name)
const condition = (harness: Harness, name: string): unknown => find(harness, name)!.status?.conditions?.[0]
const addresses = (harness: Harness): unknown =>
  harness.cluster.all<IPAddress>(ipAddresses).map(({ metadata, spec }) => `${metadata.name} ${spec?.parentRef?.name}`)

const [familyLabel, managedByLabel] = ["ipaddress.kubernetes.io/ip-family", "ipaddress.kubernetes.io/managed-by"]
const managed = "ipallocator.k8s.io"

const named = (name: string, parentRef: object, labels: object = { [managedByLabel]: managed }): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: { name, labels },
    spec: { parentRef },
  }) as unknown as KubeObject

describe("a ServiceCIDR", () => {
  test("is ready, and is removed ten seconds after its deletion", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(serviceCIDRs, cidr("more", "10.1.0.0/16"))
    await eventually(() => {
      expect(condition(harness, "more")).toMatchObject({ status: "True", message: "Kubernetes Service CIDR is ready" })
      expect(find(harness, "more")!.metadata.finalizers).toEqual(["networking.k8s.io/service-cidr-finalizer"])
    })
    await harness.cluster.delete(serviceCIDRs, undefined, "more")
    await eventually(() => expect(clock.timers).toBeGreaterThan(0))
    expect(find(harness, "more")).toBeDefined()
    clock.advance(10_000)
    await eventually(() => expect(find(harness, "more")).toBeUndefined())
  })

  test("keeps finalizers of others, after its own", async () => {
    await using harness = await startHarness({ only, clock: new FakeClock() })
    const { metadata, ...rest } = cidr("more", "10.1.0.0/16")
    await harness.create(serviceCIDRs, { ...rest, metadata: { ...metadata, finalizers: ["example.com/hold"] } })
    const wanted = ["networking.k8s.io/service-cidr-finalizer", "example.com/hold"]
    await eventually(() => expect(find(harness, "more")!.metadata.finalizers).toEqual(wanted))
  })

  test.each([
    ["is not of its family by its label", { [familyLabel]: "IPv6", [managedByLabel]: managed }],
    ["is somebody else's", { [familyLabel]: "IPv4", [managedByLabel]: "somebody" }],
  ])("is not kept for an address that %s", async (_, labels) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only: ["service-cidr"], clock })
    await harness.create(serviceCIDRs, cidr("more", "10.1.0.0/24"))
    await harness.create(
      ipAddresses,
      named("10.1.0.7", { resource: "services", namespace: "default", name: "web" }, labels),
    )
    await eventually(() => expect(condition(harness, "more")).toMatchObject({ status: "True" }))
    await harness.cluster.delete(serviceCIDRs, undefined, "more")
    await eventually(() => {
      clock.advance(1_000)
      expect(find(harness, "more")).toBeUndefined()
    })
  })

  test("is kept while an address is in no other range", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(serviceCIDRs, cidr("more", "10.1.0.0/24"))
    await harness.create(services, service("web", "10.1.0.7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    await harness.cluster.delete(serviceCIDRs, undefined, "more")
    await eventually(() => expect(condition(harness, "more")).toMatchObject({ reason: "Terminating", status: "False" }))
    await harness.create(serviceCIDRs, cidr("larger", "10.0.0.0/8"))
    await eventually(() => {
      clock.advance(10_000)
      expect(find(harness, "more")).toBeUndefined()
    })
    expect(find(harness, "larger")).toBeDefined()
  })
})

describe("a ServiceCIDR that contains another", () => {
  test.each([
    ["10.1.0.16", "is the name of its network", "Terminating"],
    ["10.1.0.31", "is for everybody of it", "Terminating"],
    ["10.1.0.17", "is in it", ""],
    ["10.1.0.0", "is of neither", ""],
    ["10.1.0.255", "is of neither", ""],
  ])("that has %s, which %s: %s", async (address, _why, reason) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(serviceCIDRs, cidr("more", "10.1.0.0/24"))
    await harness.create(serviceCIDRs, cidr("within", "10.1.0.16/28"))
    await harness.create(services, service("web", address))
    await eventually(() => expect(addresses(harness)).toEqual([`${address} web`]))
    await eventually(() => expect(condition(harness, "more")).toMatchObject({ status: "True" }))
    await harness.cluster.delete(serviceCIDRs, undefined, "more")
    await eventually(() => {
      if (reason !== "") return expect(condition(harness, "more")).toMatchObject({ reason, status: "False" })
      clock.advance(10_000)
      expect(find(harness, "more")).toBeUndefined()
    })
  })
})

const address = (harness: Harness, name: string): IPAddress =>
  harness.cluster.find<IPAddress>(ipAddresses, undefined, name) as IPAddress
describe("IPAddresses", () => {
  test("follow the addresses of Services of both families", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service("web", "10.1.0.7", "fd00::7"))
    await harness.create(services, service("headless", "None"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web", "fd00::7 web"]))
    expect(address(harness, "fd00::7").metadata.labels).toEqual({ [familyLabel]: "IPv6", [managedByLabel]: managed })
    await harness.change(services, "default", "web", { spec: { clusterIPs: ["10.1.0.7"] } })
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    await harness.cluster.delete(ipAddresses, undefined, "10.1.0.7")
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    await harness.cluster.delete(services, "default", "web")
    await eventually(() => expect(addresses(harness)).toEqual([]))
  })

  test("of a Service get back what somebody changed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service("web", "10.1.0.7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    const { uid } = address(harness, "10.1.0.7").metadata
    await harness.change(ipAddresses, undefined, "10.1.0.7", { metadata: { labels: { [familyLabel]: "IPv6" } } })
    await eventually(() => {
      expect(address(harness, "10.1.0.7").metadata.labels).toEqual({ [familyLabel]: "IPv4", [managedByLabel]: managed })
      expect(address(harness, "10.1.0.7").metadata.uid).not.toBe(uid)
    })
  })

  test("that a Service needs are taken from what is no Service", async () => {
    await using harness = await startHarness({ only })
    await harness.create(ipAddresses, named("10.1.0.7", { resource: "things", name: "a" }, {}))
    await harness.create(services, service("web", "10.1.0.7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    await eventually(() => {
      expect(eventTexts(harness)).toEqual([
        "ClusterIPNotAllocated: the ClusterIP [IPv4]: 10.1.0.7 for Service default/web has a wrong reference; repairing",
      ])
    })
  })

  test.each([
    {
      title: "of something else are deleted at once",
      parent: { group: "example.com", resource: "things", namespace: "default", name: "a" },
      afterMs: 0,
      event:
        "IPAddressNotAllocated: IPAddress 10.1.0.9 appears to have been modified, not referencing a Service &ParentReference{Group:example.com,Resource:things,Namespace:default,Name:a,}: cleaning up",
    },
    {
      title: "of a Service that is not there are deleted after a minute",
      parent: { resource: "services", namespace: "default", name: "a" },
      afterMs: 60_000,
      event: "IPAddressNotAllocated: IPAddress: 10.1.0.9 for Service default/a appears to have leaked: cleaning up",
    },
    {
      title: "that their Service does not have are deleted after five seconds",
      parent: { resource: "services", namespace: "default", name: "web" },
      afterMs: 5_000,
      event: "IPAddressWrongReference: IPAddress: 10.1.0.9 for Service default/web has a wrong reference; cleaning up",
    },
  ])("$title", async ({ parent, afterMs, event }) => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(services, service("web", "10.1.0.7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    clock.advance(10_000)
    await harness.create(ipAddresses, named("10.1.0.9", parent))
    if (afterMs > 0) {
      await eventually(() => expect(clock.timers).toBeGreaterThan(0))
      expect(addresses(harness)).toHaveLength(2)
      clock.advance(afterMs)
    }
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web"]))
    await eventually(() => expect(eventTexts(harness)).toEqual([event]))
  })

  test("of a Service that is gone before they are seen are taken by the next one that has the address", async () => {
    const clock = new FakeClock()
    const cluster = new LateCluster(ipAddresses, { clock })
    await using harness = await startHarness({ only, clock, cluster })
    cluster.hold()
    await harness.create(services, service("first", "10.0.0.5"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.5 first"]))
    await cluster.delete(services, "default", "first")
    await harness.create(services, service("second", "10.0.0.5"))
    await eventually(() => expect(cluster.calls.get("create ipaddresses")).toBe(2))
    cluster.release()
    await eventually(() => {
      clock.advance(10)
      expect(addresses(harness)).toEqual(["10.0.0.5 second"])
    })
  })

  test("of a Service that has another one now are taken by the next one that has the address", async () => {
    const cluster = new LateCluster(ipAddresses)
    await using harness = await startHarness({ only, cluster })
    await harness.create(services, service("first", "10.0.0.5"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.5 first"]))
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    cluster.hold()
    await cluster.delete(services, "default", "first")
    await eventually(() => expect(addresses(harness)).toEqual([]))
    await harness.create(services, service("first", "10.0.0.6"))
    await harness.create(services, service("second", "10.0.0.5"))
    await eventually(() => expect(addresses(harness)).toContain("10.0.0.6 first"))
    cluster.release()
    await eventually(() =>
      expect(addresses(harness)).toEqual(expect.arrayContaining(["10.0.0.5 second", "10.0.0.6 first"])),
    )
  })

  test("of a Service that goes are taken by another one that has the address, too", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service("first", "10.0.0.5"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.5 first"]))
    await harness.create(services, service("second", "10.0.0.5"))
    await eventually(() => {
      expect(eventTexts(harness)).toEqual([
        "ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.0.0.5 was assigned to multiple services; please recreate service",
      ])
    })
    await harness.cluster.delete(services, "default", "first")
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.5 second"]))
  })

  test("have the canonical form, whatever form their Service has them in", async () => {
    await using harness = await startHarness({ only })
    await harness.create(services, service("web", "10.0.0.010", "FD00:0::7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.10 web", "fd00::7 web"]))
    await harness.cluster.delete(ipAddresses, undefined, "fd00::7")
    await eventually(() => expect(addresses(harness)).toEqual(["10.0.0.10 web", "fd00::7 web"]))
  })

  test("of something else that nobody manages are left alone", async () => {
    await using harness = await startHarness({ only })
    await harness.create(ipAddresses, named("10.1.0.9", { resource: "things", name: "a" }, {}))
    await harness.create(services, service("web", "10.1.0.7"))
    await eventually(() => expect(addresses(harness)).toEqual(["10.1.0.7 web", "10.1.0.9 a"]))
    expect(eventTexts(harness)).toEqual([])
  })
})

const range = (text: string): Range => parseRange(text) ?? rangeOf(text)!

test.each([
  { outer: "10.0.0.0/8", inner: "10.255.255.255", expected: true },
  { outer: "10.0.0.0/8", inner: "11.0.0.0", expected: false },
  { outer: "10.0.0.7/8", inner: "10.0.0.0/8", expected: true },
  { outer: "10.0.0.0/9", inner: "10.0.0.0/8", expected: false },
  { outer: "fd00::/64", inner: "fd00::ffff:1", expected: true },
  { outer: "fd00::/64", inner: "fd00:0:0:1::", expected: false },
  { outer: "::/0", inner: "10.0.0.1", expected: false },
  { outer: "::ffff:10.0.0.0/104", inner: "::ffff:10.1.2.3", expected: true },
])("$outer holds $inner: $expected", ({ outer, inner, expected }) => {
  expect(contains(range(outer), range(inner))).toBe(expected)
  expect(overlaps(range(inner), range(outer))).toBe(expected || outer === "10.0.0.0/9")
})

test.each(["", "10.0.0.0", "10.0.0/8", "10.0.0.0/33", "10.0.0.256/8", "x/8", "10.0.0.0/"])(
  "%j is not a range",
  (text) => {
    expect(parseRange(text)).toBeUndefined()
  },
)
