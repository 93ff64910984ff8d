// Services that their tenant, and somebody in super, change at random, with addresses of two families of a real super cluster.

import { describe, expect, test } from "vitest"
import type { Service } from "../../../apimachinery/object.ts"
import { createRandom, seeds } from "../../../apimachinery/testing/random.ts"
import { services } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { changeServices } from "../../../syncer/testing/random-services.ts"
import { service, startServiceWorld } from "../../../syncer/testing/service-world.ts"
import { eventually } from "../../harness/eventually.ts"
import { dualStackFlags } from "../controllers/dual-stack-addresses.ts"
import { lacks } from "../harness/needs.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"

const names = Array.from({ length: 10 }, (_, index) => `web-${index}`)

describe.skipIf(lacks(TestKubernetes.binaries()))("a real super cluster of two families", () => {
  test.each(seeds(Number(process.env["ROUNDS"] ?? 1)))(
    "has Services as their tenant does (SEED=%i)",
    { tags: "independent" },
    async (seed) => {
      await using stack = new AsyncDisposableStack()
      const kubernetes = stack.use(await TestKubernetes.start({ apiServerFlags: dualStackFlags }))
      const world = await startServiceWorld(stack, { superClient: kubernetes.client })
      const syncer = stack.use(await world.startSyncer())
      await changeServices(world, syncer, createRandom(seed), true)
    },
  )

  test("gives copies that somebody deletes the addresses that they had", { tags: "independent" }, async () => {
    await using stack = new AsyncDisposableStack()
    const kubernetes = stack.use(await TestKubernetes.start())
    const world = await startServiceWorld(stack, { superClient: kubernetes.client })
    const { client, superClient, home } = world
    const syncer = stack.use(await world.startSyncer())
    for (const name of names) await client.create(services, service("default", name, { ports: [{ port: 80 }] }))
    const addresses = async (of: KubeClient, namespace: string): Promise<Map<unknown, unknown>> => {
      const { items } = await of.list<Service>(services, { namespace })
      const mine = items.filter(({ metadata }) => names.includes(metadata.name ?? ""))
      return new Map(mine.map(({ metadata, spec }) => [metadata.name, spec?.clusterIP]))
    }
    const before = await addresses(client, "default")
    for (let time = 0; time < 5; time++) {
      await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
      await Promise.all(names.map((name) => superClient.delete(services, home, name)))
      const isComplete = async (): Promise<boolean> => (await addresses(superClient, home)).size === names.length
      await eventually(isComplete, { what: "all copies" })
      expect(await addresses(superClient, home)).toEqual(before)
    }
  })
})
