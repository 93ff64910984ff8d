// The addresses of load balancers: those that super says, as long as it says them, and the tenant's own, if super never had any.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { balancedAnnotation, givenConditionsAnnotation } from "../apimachinery/tenancy.ts"
import { services } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { object, startHarness } from "./testing/harness.ts"

const spec = { type: "LoadBalancer", clusterIP: "10.0.0.5", ports: [{ port: 80 }] }
const balanced = (ip: string): object => ({ status: { loadBalancer: { ingress: [{ ip }] } } })

async function begin() {
  const harness = await startHarness()
  const { cluster, superCluster, home } = harness
  await cluster.create(services, object("Service", "default", "web", { spec }))
  await harness.inSuper(services, "web")
  const inSuper = (change: object): unknown =>
    superCluster.edit(services, home, "web", change as Record<string, unknown>)
  const shown = (): unknown =>
    cluster.find<Service>(services, "default", "web")?.status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? []
  return { harness, inSuper, shown }
}

test("an address that super takes back is shown no longer", async () => {
  const { harness, inSuper, shown } = await begin()
  await using _ = harness
  for (const ip of ["192.0.2.1", "192.0.2.2"]) {
    inSuper(balanced(ip))
    await eventually(() => expect(shown()).toEqual([ip]))
  }
  await harness.settled()
  inSuper({ status: { loadBalancer: { ingress: null } } })
  await harness.settled()
  expect(shown()).toEqual([])
  inSuper(balanced("192.0.2.3"))
  await eventually(() => expect(shown()).toEqual(["192.0.2.3"]))
  await harness.settled()
  inSuper({ status: null })
  await harness.settled()
  expect(shown()).toEqual([])
  expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
})

test.each([
  ["has its own load balancer", { spec: { type: "LoadBalancer", loadBalancerClass: "example.com/own" } }],
  ["has a controller that writes its addresses", {}],
])("an address that the tenant writes after super has taken back its own stays, if it %s", async (_what, change) => {
  const { harness, inSuper, shown } = await begin()
  await using _ = harness
  const { cluster, superCluster, home } = harness
  const copy = (): Service | undefined => superCluster.find<Service>(services, home, "web")
  const inTenant = (one: object): unknown => cluster.edit(services, "default", "web", one as Record<string, unknown>)
  inSuper(balanced("192.0.2.1"))
  await eventually(() => expect(shown()).toEqual(["192.0.2.1"]))
  await harness.settled()
  inTenant({ spec: { type: "ClusterIP" } })
  inSuper({ status: { loadBalancer: null } })
  await harness.settled()
  expect(shown()).toEqual([])
  await harness.settled()
  expect(copy()?.metadata.annotations).not.toHaveProperty([balancedAnnotation])
  inTenant(change)
  inTenant(balanced("198.51.100.1"))
  await harness.settled()
  expect(shown()).toEqual(["198.51.100.1"])
  expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
  // From then on it is super's again.
  inSuper(balanced("192.0.2.2"))
  await eventually(() => expect(shown()).toEqual(["192.0.2.2"]))
})

test("an address that the tenant shows only after super has taken it back is shown no longer", async () => {
  const { harness, inSuper, shown } = await begin()
  await using _ = harness
  const { cluster, superCluster, home } = harness
  const mark = (): unknown => superCluster.find(services, home, "web")?.metadata.annotations?.[balancedAnnotation]
  // The tenant's Service is read as it will be seen: given an address after it was seen without.
  const get = cluster.get.bind(cluster)
  let reads = 0
  cluster.get = async (resource, ...rest) => {
    if (resource === services && reads++ === 0)
      cluster.edit(services, "default", "web", balanced("192.0.2.1") as Record<string, unknown>)
    return get(resource, ...rest) as never
  }
  inSuper({ metadata: { annotations: { [balancedAnnotation]: "true" } } })
  await eventually(() => mark() === undefined && reads > 1, { what: "the mark is gone" })
  await harness.settled()
  expect(shown()).toEqual([])
})

const condition = {
  type: "example.com/none",
  status: "True",
  reason: "a",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
}

test.each([
  ["has none", { loadBalancer: {} }],
  ["says only why it has none", { conditions: [condition] }],
])("an address of the tenant's own stays, if super %s", async (_what, status) => {
  const { harness, inSuper, shown } = await begin()
  await using _ = harness
  harness.cluster.edit(services, "default", "web", balanced("192.0.2.9") as Record<string, unknown>)
  inSuper({ status })
  await harness.settled()
  expect(shown()).toEqual(["192.0.2.9"])
})

test("a condition that super has taken back is shown no longer, and becomes the tenant's own if it writes one", async () => {
  const { harness, inSuper } = await begin()
  await using _ = harness
  const { cluster, superCluster, home } = harness
  const own = { ...condition, type: "example.com/own" }
  const other = { ...condition, type: "example.com/other" }
  const shown = (): string[] =>
    (cluster.find<Service>(services, "default", "web")?.status?.conditions ?? []).map(({ type }) => type).sort()
  const mark = (): unknown =>
    superCluster.find(services, home, "web")?.metadata.annotations?.[givenConditionsAnnotation]
  cluster.edit(services, "default", "web", { status: { conditions: [own] } })
  inSuper({ status: { conditions: [condition, other] } })
  await harness.settled()
  expect(shown()).toEqual([condition.type, other.type, own.type].sort())
  inSuper({ status: { conditions: [other] } })
  await expect.poll(shown).toEqual([other.type, own.type].sort())
  await expect.poll(mark).toBe(other.type)
  inSuper({ status: null })
  await expect.poll(shown).toEqual([own.type])
  await expect.poll(mark).toBeUndefined()
  cluster.edit(services, "default", "web", { status: { conditions: [own, condition] } })
  await harness.settled()
  expect(shown()).toEqual([condition.type, own.type].sort())
  expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
})

test("conditions of the tenant's own stay beside those that super has without an address", async () => {
  const { harness, inSuper } = await begin()
  await using _ = harness
  const { cluster } = harness
  const own = { ...condition, type: "example.com/own" }
  const shown = (): object => {
    const { conditions = [] } = cluster.find<Service>(services, "default", "web")?.status ?? {}
    return Object.fromEntries(conditions.map(({ type, reason }) => [type, reason]))
  }
  cluster.edit(services, "default", "web", { status: { conditions: [own] } })
  // Fields may also come and go.
  for (const [reason, more] of [
    ["a", {}],
    ["b", { observedGeneration: 3 }],
    ["b", {}],
  ] as const) {
    inSuper({ status: { conditions: [{ ...condition, ...more, reason }] } })
    await harness.settled()
    expect(shown()).toEqual({ [condition.type]: reason, [own.type]: "a" })
    expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
  }
  inSuper(balanced("192.0.2.1"))
  await harness.settled()
  expect(shown()).toEqual({ [condition.type]: "b" })
})
