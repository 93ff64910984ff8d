// Tenants' writes of Services whose copies are gone, or of another type, on real control planes, while no syncer has made them as they were:
// they are not refused for numbers that somebody else has by now, unless they ask for these.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import type { Service } from "../apimachinery/object.ts"
import { services } from "../client/resources.ts"
import { syncerLimits } from "./options.ts"
import { service, type ServiceWorld, startServiceWorld } from "./testing/service-world.ts"

type Spec = NonNullable<Service["spec"]>

const { afterMs } = syncerLimits.numberWaits

const ports = [{ name: "http", port: 80 }]
const specs: Record<string, Spec> = {
  web: { ports, selector: { app: "web" } },
  outer: { ports, type: "NodePort" },
  dual: { ports, ipFamilyPolicy: "PreferDualStack" },
  balanced: { ports, type: "LoadBalancer", externalTrafficPolicy: "Local" },
}

const taken: Record<string, (spec: Spec) => Spec> = {
  address: ({ clusterIP }) => ({ ports, clusterIP: clusterIP! }),
  "node port": (spec) => ({ type: "NodePort", ports: [{ port: 80, nodePort: spec.ports![0]!.nodePort! }] }),
  "health check port": ({ healthCheckNodePort }) => ({
    type: "NodePort",
    ports: [{ port: 80, nodePort: healthCheckNodePort! }],
  }),
}

const lost: Record<string, (world: ServiceWorld, name: string) => Promise<unknown>> = {
  gone: ({ superClient, home }, name) => superClient.delete(services, home, name),
  "of another type": ({ superClient, home }, name) =>
    superClient.patch(
      services,
      home,
      name,
      { spec: { type: "ExternalName", externalName: "example.com" } },
      { type: "merge" },
    ),
}

describe("a write of a Service whose numbers are taken", () => {
  const stack = new AsyncDisposableStack()
  let world: ServiceWorld
  /** Called when a write waits for a number. */
  let waited: ((ms: number) => void) | undefined
  beforeAll(async () => {
    world = await startServiceWorld(stack, { waited: (ms) => waited?.(ms) })
  })
  afterEach(() => (waited = undefined))
  afterAll(() => stack.disposeAsync())

  let serial = 0

  /** Its copy is lost, and another Service in super has one of its numbers. */
  async function losing(kind: string, how: string, numbers: string[]): Promise<Service> {
    const name = `${kind}-${serial++}`
    const made = await world.client.create(services, service("default", name, specs[kind]!))
    await lost[how]!(world, name)
    for (const number of numbers) {
      const spec = taken[number]!(made.spec!)
      await world.superClient.create(services, service("default", `other-${serial++}`, spec))
    }
    return made
  }

  const write = ({ metadata }: Service, spec: object): Promise<Service> =>
    world.client.patch(services, "default", metadata.name ?? "", { spec }, { type: "merge" })
  const copyOf = ({ metadata }: Service): Promise<Service> =>
    world.superClient.get(services, world.home, metadata.name ?? "")
  const numbersOf = ({ spec }: Service): unknown => ({
    address: spec?.clusterIP,
    addresses: spec?.clusterIPs,
    health: spec?.healthCheckNodePort,
    ports: spec?.ports?.map(({ nodePort }) => nodePort),
  })

  test.each<[kind: string, how: string, numbers: string[]]>([
    ["web", "gone", ["address"]],
    ["web", "of another type", ["address"]],
    ["outer", "gone", ["address"]],
    ["outer", "gone", ["node port"]],
    ["outer", "gone", ["address", "node port"]],
    ["outer", "of another type", ["node port"]],
    ["balanced", "gone", ["health check port"]],
    ["balanced", "gone", ["address", "node port", "health check port"]],
    ["balanced", "of another type", ["address", "node port", "health check port"]],
  ])("%s, whose copy is %s, gets others than %s", async (kind, how, numbers) => {
    const made = await losing(kind, how, numbers)
    const written = await write(made, { ports: [...made.spec!.ports!, { name: "more", port: 81 }] })
    const copy = await copyOf(made)
    expect(copy.spec?.ports).toHaveLength(2)
    expect(copy.spec?.type).toBe(made.spec?.type)
    expect(numbersOf(written)).toEqual(numbersOf(copy))
    for (const number of numbers) expect(taken[number]!(copy.spec!)).not.toEqual(taken[number]!(made.spec!))
    for (const number of Object.keys(taken).filter((one) => !numbers.includes(one)))
      expect(taken[number]!(copy.spec!)).toEqual(taken[number]!(made.spec!))
  })

  test("that makes its copy anew keeps its numbers if they come free while it waits, as for a reconcile", async () => {
    const made = await losing("outer", "gone", ["address"])
    const other = `other-${serial - 1}`
    const waits: number[] = []
    let freed: Promise<void> | undefined
    waited = (ms) => {
      waits.push(ms)
      if (waits.length === 2) freed = world.superClient.delete(services, "default", other)
    }
    const written = await write(made, { ports: [...made.spec!.ports!, { name: "more", port: 81 }] })
    await freed
    expect(waits.slice(0, 2)).toEqual(afterMs.slice(0, 2))
    for (const { spec } of [written, await copyOf(made)]) expect(spec?.clusterIP).toBe(made.spec?.clusterIP)
  })

  test("waits a few times for all of its numbers together, and does not for those of a copy that is there", async () => {
    const waits: number[] = []
    waited = (ms) => waits.push(ms)
    const more = ({ spec }: Service): object => ({ ports: [...spec!.ports!, { name: "more", port: 81 }] })
    const gone = await losing("outer", "gone", ["address", "node port"])
    await write(gone, more(gone))
    expect(waits).toEqual(afterMs)
    const changed = await losing("outer", "of another type", ["address", "node port"])
    await write(changed, more(changed))
    expect(waits).toEqual(afterMs)
  })

  test.each(Object.keys(lost))("keeps its families if its copy is %s", async (how) => {
    const made = await losing("dual", how, ["address"])
    const written = await write(made, { ports: [...made.spec!.ports!, { name: "more", port: 81 }] })
    for (const { spec } of [written, await copyOf(made)]) {
      expect(spec).toMatchObject({ ipFamilyPolicy: "PreferDualStack", ipFamilies: made.spec!.ipFamilies })
      expect(spec?.clusterIP).not.toBe(made.spec?.clusterIP)
    }
  })

  test("that asks for the number is refused, and its copy is not made", async () => {
    const holder = await world.superClient.create(
      services,
      service("default", "holder", { type: "NodePort", ports: [{ port: 80 }] }),
    )
    const made = await losing("outer", "gone", [])
    const asked = { ports: [{ ...made.spec?.ports?.[0], nodePort: holder.spec?.ports?.[0]?.nodePort }] }
    await expect(write(made, asked)).rejects.toMatchObject({ code: 422 })
    await expect(copyOf(made)).rejects.toMatchObject({ code: 404 })
  })

  test.each(Object.keys(lost))("has the families that it asks for if its copy is %s", async (how) => {
    const made = await losing("web", how, ["address"])
    const written = await write(made, { ipFamilyPolicy: "PreferDualStack" })
    for (const { spec } of [written, await copyOf(made)]) {
      expect(spec?.ipFamilyPolicy).toBe("PreferDualStack")
      expect(spec?.clusterIP).not.toBe(made.spec?.clusterIP)
    }
    await expect(write(written, { ipFamilyPolicy: "RequireDualStack" })).rejects.toMatchObject({ code: 422 })
  })
})
