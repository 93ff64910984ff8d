// What somebody in super does to a copy of a Service, so that super assigns its addresses and ports anew: they are those that the tenant
// knows, and if somebody has taken these, the tenant is told.

import { expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { RangeServiceAddresses } from "../gateway/registry/core/services/addresses.ts"
import { transparentClusterIPAnnotation } from "../apimachinery/tenancy.ts"
import { events, services } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { service, type ServiceWorld, startServiceWorld } from "./testing/service-world.ts"

type Spec = NonNullable<Service["spec"]>

const ports = [{ name: "http", port: 80 }]
const specs: Record<string, Spec> = {
  web: { ports, selector: { app: "web" } },
  headless: { ports, clusterIP: "None" },
  outer: { ports, type: "NodePort" },
  balanced: { ports, type: "LoadBalancer", externalTrafficPolicy: "Local" },
}

type Meddle = (world: ServiceWorld, name: string) => Promise<unknown>

const patched =
  (spec: object): Meddle =>
  ({ superClient, home }, name) =>
    superClient.patch(services, home, name, { spec }, { type: "merge" })
const elsewhere = patched({ type: "ExternalName", externalName: "example.com" })
const everywhere = patched({ externalTrafficPolicy: "Cluster" })
const gone: Meddle = ({ superClient, home }, name) => superClient.delete(services, home, name)

/** The syncer sees what has been done in super while it did not run. Returns the Services on both sides. */
async function meddled(stack: AsyncDisposableStack, name: string, meddle: (world: ServiceWorld) => Promise<unknown>) {
  const world = await startServiceWorld(stack)
  const { client, superClient, home } = world
  const made = await client.create(services, service("default", name, specs[name]!))
  const before = await world.startSyncer()
  await eventually(() => before.pending === 0, { what: "the queue is empty" })
  await before[Symbol.asyncDispose]()
  await meddle(world)
  const syncer = stack.use(await world.startSyncer())
  const both = () =>
    Promise.all([client.get<Service>(services, "default", name), superClient.get<Service>(services, home, name)])
  const typeOf = ({ spec }: Service) => [spec?.type, spec?.externalTrafficPolicy]
  await eventually(
    async () => {
      const [object, copy] = await both()
      return typeOf(copy).join() === typeOf(object).join()
    },
    { what: "the copy is as wanted" },
  )
  const settled = () =>
    eventually(
      async () => {
        const { enqueued } = await syncer.patrol()
        return syncer.pending === 0 && !enqueued.has("services")
      },
      { what: "nothing is left to do" },
    )
  const told = async (): Promise<string[]> => {
    const { items } = await client.list(events, { namespace: "default" })
    return items.map(({ reason, message }) => `${String(reason)}: ${String(message)}`)
  }
  return { ...world, made, both, settled, told }
}

test.each<[name: string, what: string, meddle: Meddle]>([
  ["web", "of another type", elsewhere],
  ["web", "gone", gone],
  ["headless", "of another type", elsewhere],
  ["outer", "of another type", elsewhere],
  ["balanced", "of another type", elsewhere],
  ["balanced", "of another policy", everywhere],
  ["balanced", "gone", gone],
])("the copy of %s that was %s is as before", async (name, _what, meddle) => {
  await using stack = new AsyncDisposableStack()
  const { made, both, settled, told } = await meddled(stack, name, (world) => meddle(world, name))
  await settled()
  const [object, copy] = await both()
  expect(copy.spec).toEqual(made.spec)
  expect(object.spec).toEqual(made.spec)
  expect(await told()).toEqual([])
})

const other = (spec: Spec) => service("default", "other", spec)

/** It is somebody else's by now. */
const takeAddress = async ({ client, superClient }: ServiceWorld, name: string): Promise<void> => {
  const { clusterIP } = (await client.get<Service>(services, "default", name)).spec!
  await superClient.create(services, other({ ports, clusterIP: clusterIP! }))
}
const takePort = async ({ client, superClient }: ServiceWorld, name: string): Promise<void> => {
  const { spec } = await client.get<Service>(services, "default", name)
  const nodePort = spec?.healthCheckNodePort ?? portOf(spec!)
  await superClient.create(services, other({ type: "NodePort", ports: [{ port: 80, nodePort: nodePort! }] }))
}
const portOf = (spec: Spec): number | undefined => spec.ports?.[0]?.nodePort

test.each<[name: string, what: string, meddle: Meddle]>([
  ["web", "of another type", elsewhere],
  ["web", "gone", gone],
  ["balanced", "of another type", elsewhere],
])(
  "the copy of %s that was %s, and whose address somebody has taken, has another one, as the tenant is told",
  async (name, _what, meddle) => {
    await using stack = new AsyncDisposableStack()
    const { made, both, settled, told } = await meddled(stack, name, async (world) => {
      await meddle(world, name)
      await takeAddress(world, name)
    })
    await settled()
    const [object, copy] = await both()
    const { clusterIP, healthCheckNodePort, ports } = copy.spec!
    expect(clusterIP).not.toBe(made.spec?.clusterIP)
    expect({ healthCheckNodePort, ports }).toEqual({
      healthCheckNodePort: made.spec?.healthCheckNodePort,
      ports: made.spec?.ports,
    })
    expect(object.metadata.annotations?.[transparentClusterIPAnnotation]).toBe(clusterIP)
    await eventually(async () =>
      expect(await told()).toEqual([expect.stringMatching(/^FailedSync: .*already allocated/)]),
    )
  },
)

test.each<[what: string, meddle: Meddle]>([
  ["of another policy", everywhere],
  ["gone", gone],
])(
  "the copy of a load balancer's Service that was %s, and whose health check port somebody has taken, has another one",
  async (_what, meddle) => {
    await using stack = new AsyncDisposableStack()
    const { made, both, settled, told } = await meddled(stack, "balanced", async (world) => {
      await meddle(world, "balanced")
      await takePort(world, "balanced")
    })
    await settled()
    const [, copy] = await both()
    const { healthCheckNodePort, ...others } = copy.spec!
    expect(healthCheckNodePort).toBeGreaterThan(0)
    expect(healthCheckNodePort).not.toBe(made.spec?.healthCheckNodePort)
    const { healthCheckNodePort: _taken, ...kept } = made.spec!
    expect(others).toEqual(kept)
    await eventually(async () =>
      expect(await told()).toEqual([expect.stringMatching(/^FailedSync: .*already allocated/)]),
    )
  },
)

test("a Service whose node port somebody has taken gets that of its copy with its next change, unless that asks for the former", async () => {
  await using stack = new AsyncDisposableStack()
  const { client, made, both } = await meddled(stack, "outer", async (world) => {
    await patched({ type: "ClusterIP" })(world, "outer")
    await takePort(world, "outer")
  })
  const [, { spec: works }] = await both()
  const write = (spec: object, dryRun = false): Promise<Service> =>
    client.patch(services, "default", "outer", { spec }, { type: "merge", dryRun })
  const more = [...made.spec!.ports!, { name: "more", port: 81 }]
  for (const dryRun of [true, false]) {
    const changed = await write({ selector: { app: "next" }, ports: more }, dryRun)
    expect(changed.spec?.selector).toEqual({ app: "next" })
    expect(portOf(changed.spec!)).toBe(portOf(works!))
  }
  const [object, copy] = await both()
  expect(copy.spec?.ports).toEqual(object.spec?.ports)
  expect(copy.spec?.selector).toEqual({ app: "next" })
  await expect(write({ ports: made.spec?.ports })).rejects.toMatchObject({ code: 422 })
})

test("the copy of a Service whose node port somebody has taken has another one, until that is free again", async () => {
  await using stack = new AsyncDisposableStack()
  const { made, both, settled, told, superClient } = await meddled(stack, "outer", async (world) => {
    await patched({ type: "ClusterIP" })(world, "outer")
    await takePort(world, "outer")
  })
  const [, copy] = await both()
  expect(portOf(copy.spec!)).toBeGreaterThan(0)
  expect(portOf(copy.spec!)).not.toBe(portOf(made.spec!))
  await eventually(async () => expect((await told()).join()).toMatch(/FailedUpdate: .*already allocated/))
  await superClient.delete(services, "default", "other")
  await settled()
  const [, again] = await both()
  expect(again.spec).toEqual(made.spec)
})

/** Those of a copy that is gone are free only when somebody has asked for them. */
class LateAddresses extends RangeServiceAddresses {
  #gone: Service[] = []

  override async release(service: Service): Promise<void> {
    this.#gone.push(service)
  }

  override async claim(...asked: Parameters<RangeServiceAddresses["claim"]>) {
    try {
      return await super.claim(...asked)
    } catch (error) {
      for (const service of this.#gone.splice(0)) await super.release(service)
      throw error
    }
  }
}

test("a copy that is made anew before super has given its numbers back has them", async () => {
  await using stack = new AsyncDisposableStack()
  const addresses = new LateAddresses({ cidr: "10.96.0.0/16", load: async () => [] })
  const world = await startServiceWorld(stack, { addresses })
  const { client, superClient, home } = world
  const made = await client.create(services, service("default", "outer", specs["outer"]!))
  const syncer = stack.use(await world.startSyncer())
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  const { metadata } = await superClient.get(services, home, "outer")
  await superClient.delete(services, home, "outer")
  const again = await eventually(
    async () => {
      const copy = await superClient.get<Service>(services, home, "outer").catch(() => undefined)
      return copy?.metadata.uid === metadata.uid ? undefined : copy
    },
    { what: "another copy" },
  )
  expect(again.spec).toEqual(made.spec)
})
