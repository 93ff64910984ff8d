// The families of a Service's copy when super has others than before.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { events, services } from "../client/resources.ts"
import type { ServiceAddresses } from "../gateway/control-plane/service-addresses.ts"
import { RangeServiceAddresses } from "../gateway/registry/core/services/addresses.ts"
import { eventually } from "../test/harness/eventually.ts"
import { DualStackAddresses } from "../test/kubernetes/controllers/dual-stack-addresses.ts"
import { service, type ServiceWorld, startServiceWorld } from "./testing/service-world.ts"

const ports = [{ port: 80 }]

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
