// VirtualClusters that come, change and go at random, two of each name, while calls of the operator to both sides fail, it is restarted, and
// somebody removes what it keeps in super. When that ends, the tenants are those of the VirtualClusters.

import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { chance, createRandom, pick, type Random, seeds } from "../apimachinery/testing/random.ts"
import type { Secret } from "../apimachinery/object.ts"
import { serviceUnavailable } from "../apimachinery/status.ts"
import { adminKubeconfigSecret, virtualClusterUIDAnnotation } from "../apimachinery/tenancy.ts"
import { namespaces, secrets, virtualClusters } from "../client/resources.ts"
import { hasSettings } from "../client/tenant-settings.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { faulty, type Faults } from "../client/testing/faulty-client.ts"
import { type Operator, startOperator, type VirtualCluster } from "./main.ts"
import { FakeTenantAdmin, named } from "./testing/operator.ts"

const homes = ["default", "other"]
const names = ["a", "b"]
const tenantUIDAnnotation = "tenancy.x-k8s.io/tenant-uid"

/** Its calls fail before or after they have had their effect. */
function unsure(tenants: FakeTenantAdmin, faults: Faults): FakeTenantAdmin {
  const mayFail = (message: string): void => {
    if (chance(faults.random, faults.probability)) throw serviceUnavailable(message)
  }
  return new Proxy(tenants, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      const bound = value.bind(target) as (...args: unknown[]) => unknown
      if (!["create", "delete", "kubeconfig", "address"].includes(String(name))) return bound
      return async (...args: unknown[]) => {
        mayFail("down")
        const answer = await bound(...args)
        mayFail("the answer is lost")
        return answer
      }
    },
  })
}

class World {
  readonly random: Random
  readonly faults: Faults
  readonly superCluster = new FakeCluster({ isSuper: true })
  readonly tenants = new FakeTenantAdmin()
  readonly clock = new FakeClock(Date.now())
  operator: Operator | undefined

  constructor(seed: number) {
    this.random = createRandom(seed)
    this.faults = { random: this.random, probability: 0 }
  }

  async start(): Promise<void> {
    for (const home of homes) await this.superCluster.create(namespaces, named("Namespace", undefined, home))
    await this.#restart()
  }

  async #restart(): Promise<void> {
    await this.operator?.[Symbol.asyncDispose]()
    const { superCluster, tenants, faults, clock } = this
    this.operator = await startOperator({
      superClient: faulty(superCluster, faults),
      tenants: unsure(tenants, faults),
      clock,
    })
  }

  async step(): Promise<void> {
    const { random } = this
    await pick(random, [
      () => this.#use(),
      () => this.#use(),
      async () => this.clock.advance(random(40_000)),
      async () => this.#meddle(),
    ])()
    if (chance(random, 0.03)) await this.#restart()
    for (let turn = random(6); turn > 0; turn--) await nextTurn()
  }

  async #use(): Promise<void> {
    const { random, superCluster } = this
    const [home, name] = [pick(random, homes), pick(random, names)]
    const found = superCluster.find<VirtualCluster>(virtualClusters, home, name)
    const spec = {
      clusterVersionName: "default",
      controllers: chance(random, 0.5),
      ...(chance(random, 0.5) ? { quota: { pods: random(3) } } : {}),
    }
    if (found === undefined) await superCluster.create(virtualClusters, named("VirtualCluster", home, name, spec))
    else if (found.metadata.deletionTimestamp !== undefined) return
    else if (chance(random, 0.5)) superCluster.edit(virtualClusters, home, name, { spec: { quota: null, ...spec } })
    else if ((found.metadata.finalizers ?? []).length === 0) superCluster.remove(virtualClusters, home, name)
    else superCluster.edit(virtualClusters, home, name, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })
  }

  #meddle(): void {
    const { random, superCluster } = this
    const roots = superCluster
      .all(namespaces)
      .filter(({ metadata }) => metadata.annotations?.[virtualClusterUIDAnnotation] !== undefined)
    if (roots.length === 0) return
    const { name = "" } = pick(random, roots).metadata
    if (superCluster.find(secrets, name, adminKubeconfigSecret) !== undefined)
      superCluster.remove(secrets, name, adminKubeconfigSecret)
  }

  /** What is still wrong once everybody has had time. */
  async left(): Promise<string[]> {
    this.faults.probability = 0
    await this.#whenReady()
    let left = ["nothing has been looked at"]
    for (let round = 0; round < 100 && left.length > 0; round++) {
      this.clock.advance(60_000)
      for (let turn = 0; turn < 30; turn++) await nextTurn()
      left = this.#wrong()
    }
    return left
  }

  /** It reads files, which takes its time. */
  async #whenReady(): Promise<void> {
    let isReady = false
    void this.operator?.whenReady().then(() => (isReady = true))
    while (!isReady) {
      this.clock.advance(10_000)
      await nextTurn()
    }
  }

  #wrong(): string[] {
    const { superCluster, tenants } = this
    const all = superCluster.all<VirtualCluster>(virtualClusters)
    const owners = new Set(all.map(({ metadata }) => metadata.uid))
    const orphans = tenants.list().filter(({ virtualCluster }) => !owners.has(virtualCluster.uid))
    const homeless = superCluster.all(namespaces).filter(({ metadata: { annotations } }) => {
      const owner = annotations?.[virtualClusterUIDAnnotation]
      return owner !== undefined && !owners.has(owner)
    })
    return [
      ...all.flatMap((one) => this.#wrongWith(one)),
      ...orphans.map(({ name }) => `tenant ${name} is of nobody`),
      ...homeless.map(({ metadata }) => `namespace ${metadata.name} is of nobody`),
    ]
  }

  #wrongWith({ metadata, spec, status }: VirtualCluster): string[] {
    const { superCluster, tenants } = this
    const { namespace, name = "", uid, deletionTimestamp } = metadata
    const what = `${namespace}/${name}`
    if (deletionTimestamp !== undefined) return [`${what} is still there`]
    const tenant = tenants.get(name)
    if (tenant === undefined) return [`${what} has no tenant`]
    if (tenant.virtualCluster.uid !== uid) return status?.reason === "NameTaken" ? [] : [`${what} does not know why`]
    const { controllers = true, quota } = spec ?? {}
    const wanted = { controllers, ...(quota === undefined || quota === null ? {} : { quota }) }
    const kubeconfig = superCluster.find<Secret>(secrets, tenant.clusterKey, adminKubeconfigSecret)
    const facts: [string, boolean][] = [
      ["runs", status?.phase === "Running"],
      ["has its settings", hasSettings(tenant, wanted)],
      ["has its namespace", superCluster.find(namespaces, undefined, tenant.clusterKey) !== undefined],
      ["has its kubeconfig", kubeconfig?.metadata.annotations?.[tenantUIDAnnotation] === tenant.uid],
    ]
    return facts.filter(([, isSo]) => !isSo).map(([fact]) => `${what} not: ${fact}`)
  }
}

test.each(seeds(Number(process.env["ROUNDS"] ?? 10)))(
  "tenants are those of VirtualClusters (seed %i)",
  async (seed) => {
    const world = new World(seed)
    await world.start()
    try {
      for (let step = 0; step < 200; step++) {
        if (step % 40 === 0) world.faults.probability = pick(world.random, [0, 0.05, 0.2, 0.5])
        await world.step()
      }
      expect(await world.left()).toEqual([])
    } finally {
      await world.operator?.[Symbol.asyncDispose]()
    }
  },
)
