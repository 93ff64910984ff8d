// The addresses of load balancers: those that super says, as long as it says them, and the tenant's own, if super never had any.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
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

test("an address of the tenant's own stays, if super has none", async () => {
  const { harness, inSuper, shown } = await begin()
  await using _ = harness
  harness.cluster.edit(services, "default", "web", balanced("192.0.2.9") as Record<string, unknown>)
  inSuper({ status: { loadBalancer: {} } })
  await harness.settled()
  expect(shown()).toEqual(["192.0.2.9"])
})
