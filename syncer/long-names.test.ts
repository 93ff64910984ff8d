// Two namespaces of a tenant with the same name in super, which shortens long names: the first one has it, and the tenant is told of the second
// one, of which nothing reaches the first.

import { beforeAll, expect, test } from "vitest"
import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { namespaceAnnotation, superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import { createRandom, pick, seeds, type Random } from "../apimachinery/testing/random.ts"
import {
  configMaps,
  events,
  namespaces,
  networkPolicies,
  pods,
  secrets,
  serviceAccounts,
  services,
} from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { eventually } from "../test/harness/eventually.ts"
import { startSyncer } from "./main.ts"
import { createServiceAddresses } from "./service-addresses.ts"
import { SuperNamespaces } from "./super-namespaces.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"
import { object, podOf } from "./testing/harness.ts"

const tenant = fakeTenant("acme")
const limit = 63

/** Two names that begin alike, and agree in the 20 bits that tell them apart. */
function searched(): [string, string] {
  const beginning = "x".repeat(limit - tenant.clusterKey.length)
  const seen = new Map<string, string>()
  for (let serial = 0; ; serial++) {
    const name = `${beginning}${serial}`
    const inSuper = superNamespace(tenant.clusterKey, name)
    const other = seen.get(inSuper)
    if (other !== undefined) return [other, name]
    seen.set(inSuper, name)
  }
}

/** The second one is itself what the first one is shortened to. */
function guessed(): [string, string] {
  const long = "y".repeat(limit)
  return [long, superNamespace(tenant.clusterKey, long).slice(tenant.clusterKey.length + 1)]
}

let pairs: [string, string][]
beforeAll(() => {
  pairs = [searched(), guessed()]
})

const kinds: readonly [resource: Resource, kind: string, content: object][] = [
  [configMaps, "ConfigMap", { data: { of: "" } }],
  [secrets, "Secret", { data: { of: "" } }],
  [services, "Service", { spec: { ports: [{ port: 80 }], selector: { app: "web" } } }],
  [networkPolicies, "NetworkPolicy", { spec: { podSelector: {} } }],
  [pods, "Pod", { spec: podOf("web")["spec"] }],
]

async function start() {
  const superCluster = new FakeCluster({ isSuper: true })
  const tenants = new FakeTenants()
  const cluster = tenants.add(tenant)
  const syncer = await startSyncer({
    tenants,
    superClient: superCluster,
    networkPolicies: "allow",
    patrolPeriodMs: 10 ** 9,
  })
  await syncer.whenSynced()
  const settled = async (): Promise<void> => {
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    await syncer.patrol()
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  }
  const make = async (namespace: string): Promise<void> => {
    await cluster.create(namespaces, object("Namespace", undefined, namespace))
    await cluster.create(serviceAccounts, object("ServiceAccount", namespace, "default"))
    for (const [resource, kind, content] of kinds)
      await cluster.create(resource, object(kind, namespace, "web", content))
  }
  /** By kind, whose the copy is. */
  const owners = (home: string): (string | undefined)[] =>
    kinds.map(([resource]) => superCluster.find(resource, home, "web")?.metadata.annotations?.[namespaceAnnotation])
  const told = (namespace: string): string[] =>
    [...cluster.all<KubeObject & { message?: string }>(events)]
      .filter(({ involvedObject }: KubeObject & { involvedObject?: { namespace?: string; name?: string } }) =>
        [involvedObject?.namespace, involvedObject?.name].includes(namespace),
      )
      .map(({ message = "" }) => message)
  return { superCluster, cluster, syncer, settled, make, owners, told }
}

test.each([0, 1])(
  "the second one of pair %i is refused, and has the name when the first one is gone",
  async (index) => {
    const [first, second] = pairs[index]!
    const home = superNamespace(tenant.clusterKey, first)
    expect(superNamespace(tenant.clusterKey, second)).toBe(home)
    const { superCluster, cluster, syncer, settled, make, owners, told } = await start()
    await using _ = syncer
    await make(first)
    await settled()
    expect(owners(home)).toEqual(kinds.map(() => first))
    const before = superCluster.all<Pod>(pods)
    await make(second)
    await settled()
    expect(owners(home)).toEqual(kinds.map(() => first))
    expect(superCluster.all<Pod>(pods)).toEqual(before)
    expect(told(first)).toEqual([])
    await eventually(() => expect(told(second).join("\n")).toMatch(/name is taken in the super cluster/))
    // What the second one loses is not the first one's.
    for (const [resource] of kinds) await cluster.delete(resource, second, "web", { gracePeriodSeconds: 0 })
    await settled()
    expect(owners(home)).toEqual(kinds.map(() => first))
    await cluster.delete(namespaces, undefined, second)
    await make(second)
    await settled()
    expect(owners(home)).toEqual(kinds.map(() => first))
    await cluster.delete(namespaces, undefined, first)
    await settled()
    await settled()
    expect(owners(home)).toEqual(kinds.map(() => second))
  },
)

test("an address for a Service of the second one is refused", async () => {
  const [first, second] = pairs[1]!
  const { superCluster, syncer, settled, make, cluster } = await start()
  await using _ = syncer
  await make(first)
  await settled()
  const claims = createServiceAddresses(superCluster, tenant, {
    superNamespaces: new SuperNamespaces(() => superCluster),
    tenantClient: () => cluster,
  })
  for (const name of ["web", "other"]) {
    const made = object("Service", second, name, { spec: { ports: [{ port: 80 }] } })
    await expect(claims.claim(made as never, undefined)).rejects.toMatchObject({ code: 503 })
  }
})

test.each(seeds(5))(
  "whatever is created and deleted in both, what stays in super is one namespace's (seed %i)",
  async (seed) => {
    const random: Random = createRandom(seed)
    const pair = pick(random, pairs)
    const home = superNamespace(tenant.clusterKey, pair[0])
    const { superCluster, cluster, syncer, settled, make } = await start()
    await using _ = syncer
    for (let step = 0; step < 60; step++) {
      const namespace = pick(random, pair)
      const [resource] = pick(random, kinds)
      if (cluster.find(namespaces, undefined, namespace) === undefined) await make(namespace)
      else if (random(6) === 0) await cluster.delete(namespaces, undefined, namespace)
      else if (cluster.find(resource, namespace, "web") !== undefined)
        await cluster.delete(resource, namespace, "web", { gracePeriodSeconds: 0 })
      else {
        const [, kind, content] = kinds.find(([one]) => one === resource)!
        await cluster.create(resource, object(kind, namespace, "web", content))
      }
      if (random(4) === 0) await settled()
    }
    await settled()
    await settled()
    const owner = superCluster.find(namespaces, undefined, home)?.metadata.annotations?.[namespaceAnnotation]
    const uids = new Set(
      kinds.flatMap(([resource]) => cluster.all(resource, owner).map(({ metadata }) => metadata.uid)),
    )
    // The copy of a Service that is made while that is deleted stays for a minute.
    for (const [resource] of kinds.filter(([one]) => one !== services)) {
      const copy = superCluster.find(resource, home, "web")
      if (copy === undefined) continue
      expect(copy.metadata.annotations?.[namespaceAnnotation]).toBe(owner)
      expect(uids).toContain(copy.metadata.annotations?.[uidAnnotation])
    }
  },
)
