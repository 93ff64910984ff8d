// The families of a Service's copy after somebody has changed them in super, or super has others than before.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { FieldPath, invalidValue } from "../apimachinery/field-errors.ts"
import { invalid } from "../apimachinery/status.ts"
import { events, services } from "../client/resources.ts"
import type { ServiceAddresses } from "../gateway/control-plane/service-addresses.ts"
import { RangeServiceAddresses } from "../gateway/registry/core/services/addresses.ts"
import { eventually } from "../test/harness/eventually.ts"
import { DualStackAddresses } from "../test/kubernetes/controllers/dual-stack-addresses.ts"
import { object, startHarness } from "./testing/harness.ts"
import { service, type ServiceWorld, startServiceWorld } from "./testing/service-world.ts"

const kind = { group: "", kind: "Service" }
const ports = [{ port: 80 }]
const specs = FieldPath.root("spec")

const copyOf = ({ superClient, home }: ServiceWorld): Promise<Service> => superClient.get(services, home, "db")
const told = async ({ client }: ServiceWorld): Promise<string[]> => {
  const { items } = await client.list(events, { namespace: "default" })
  return items.map(({ reason, message }) => `${String(reason)}: ${String(message)}`)
}

test("a headless copy keeps the second family that super has by now, and follows the tenant's changes", async () => {
  await using stack = new AsyncDisposableStack()
  let addresses: ServiceAddresses = new RangeServiceAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
  const world = await startServiceWorld(stack, {
    addresses: {
      claim: (...asked) => addresses.claim(...asked),
      release: (...gone) => addresses.release(...gone),
    },
  })
  const { client, superClient, home } = world
  const spec = { clusterIP: "None", selector: { app: "x" }, ipFamilyPolicy: "PreferDualStack", ports } as const
  await client.create(services, service("default", "db", spec))
  const syncer = stack.use(await world.startSyncer())
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  addresses = new DualStackAddresses()
  await superClient.delete(services, home, "db")
  const families = async (): Promise<unknown> => (await copyOf(world).catch(() => undefined))?.spec?.ipFamilies
  await expect.poll(families).toEqual(["IPv4", "IPv6"])
  await client.patch(services, "default", "db", { spec: { selector: { app: "y" } } }, { type: "merge" })
  await expect.poll(async () => (await copyOf(world)).spec?.selector).toEqual({ app: "y" })
  await eventually(async () => (await syncer.patrol()).enqueued.size === 0, { what: "nothing is left to do" })
  expect(await families()).toEqual(["IPv4", "IPv6"])
  expect(await told(world)).toEqual([])
})

test("families that super refuses keep a copy from no other change", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const dual = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] }
  const spec = { type: "ClusterIP", clusterIP: "None", selector: { app: "x" }, ports, ...dual }
  await cluster.create(services, object("Service", "default", "db", { spec }))
  await harness.inSuper(services, "db")
  await harness.settled()
  let refused = 0
  const patch = superCluster.patch.bind(superCluster)
  superCluster.patch = (resource, namespace, name, change, options) => {
    const { spec: asked } = change as { spec?: object }
    if (resource !== services || asked === undefined || !("ipFamilyPolicy" in asked))
      return patch(resource, namespace, name, change, options)
    refused++
    return Promise.reject(invalid(kind, "db", [invalidValue(specs.child("ipFamilyPolicy"), "", "not configured")]))
  }
  superCluster.edit(services, home, "db", { spec: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] } })
  await eventually(() => refused > 0, { what: "a refusal" })
  cluster.edit(services, "default", "db", { metadata: { labels: { a: "b" } } })
  const copy = (): Service | undefined => superCluster.find<Service>(services, home, "db")
  await expect.poll(() => copy()?.metadata.labels?.["a"]).toBe("b")
  cluster.edit(services, "default", "db", { spec: { selector: { app: "y" } } })
  await expect.poll(() => copy()?.spec?.selector).toEqual({ app: "y" })
})

test("a copy has another second address if somebody has taken the tenant's, and keeps the first", async () => {
  await using stack = new AsyncDisposableStack()
  const dual = new DualStackAddresses()
  let taken: string | undefined
  const world = await startServiceWorld(stack, {
    addresses: {
      release: () => dual.release(),
      async claim(asked, before) {
        const { clusterIPs = [] } = asked.spec ?? {}
        const had = before?.spec?.clusterIPs ?? []
        if (taken === undefined || had.includes(taken) || !clusterIPs.includes(taken)) return dual.claim(asked)
        const why = `failed to allocate IP ${taken}: provided IP is already allocated`
        throw invalid(kind, "db", [invalidValue(specs.child("clusterIPs"), clusterIPs, why)])
      },
    },
  })
  const { client, superClient, home } = world
  const spec = { selector: { app: "x" }, ipFamilyPolicy: "PreferDualStack", ports } as const
  const made = await client.create(services, service("default", "db", spec))
  const [first = "", second = ""] = made.spec?.clusterIPs ?? []
  const syncer = stack.use(await world.startSyncer())
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  taken = second
  await superClient.patch(services, home, "db", { spec: { ipFamilyPolicy: "SingleStack" } }, { type: "merge" })
  const given = async (): Promise<unknown> => (await copyOf(world)).spec?.clusterIPs
  await expect.poll(given, { timeout: 10_000 }).toEqual([first, expect.not.stringMatching(`^(${second})?$`)])
  expect((await copyOf(world)).spec?.ipFamilyPolicy).toBe("PreferDualStack")
  await expect.poll(() => told(world)).toEqual([expect.stringMatching(/^FailedSync: .*already allocated/)])
})
