// Two tenants, a super cluster and a syncer between them, and all who do something there at random: users, scheduler and kubelets,
// administrators who make mistakes. invariants.ts notes what must not happen.

import { setImmediate as nextTurn } from "node:timers/promises"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { clusterAnnotation } from "../../apimachinery/tenancy.ts"
import { chance, createRandom, pick, type Random } from "../../apimachinery/testing/random.ts"
import { forbidden, StatusError } from "../../apimachinery/status.ts"
import { namespaces, nodes, pods, runtimeClasses, serviceAccounts } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { startSyncer, type Syncer } from "../main.ts"
import type { SyncSettings } from "../options.ts"
import { differences } from "./differences.ts"
import { disappointed } from "./expectations.ts"
import { fakeTenant } from "./fake-tenants.ts"
import { faulty, type Faults } from "../../client/testing/faulty-client.ts"
import { object } from "./harness.ts"
import { Invariants } from "./invariants.ts"
import { mortalClient, mortalTenants, type Life } from "../../client/testing/mortal.ts"
import { contents, copied, forged, inNamespaces } from "./random-contents.ts"
import { RandomAdmins } from "./random-admins.ts"
import { usePod } from "./random-pods.ts"
import { changeStorage, finishStorage, usePublished } from "./random-storage.ts"
import { RandomTenants } from "./random-tenants.ts"
import { restored } from "./restored.ts"

const homes = ["default", "apps"]
export class RandomWorld implements AsyncDisposable {
  readonly random: Random
  readonly faults: Faults
  /** How often tenants and namespaces come and go: what they contain lives longer if they do not. */
  readonly #churn: number
  /** How often super is restored from a backup. */
  readonly #loss: number
  readonly #settings: Partial<SyncSettings>
  readonly superCluster = new FakeCluster({ isSuper: true })
  readonly tenants: RandomTenants
  readonly clock = new FakeClock(Date.now())
  readonly #invariants: Invariants
  readonly #admins: RandomAdmins
  #serial = 0
  /** From the last backup. */
  #restore: (() => void) | undefined
  /** The syncer's. */
  #life: Life = { isOver: false }
  syncer: Syncer | undefined
  /** Has lost its Lease, and goes on until it notices that. */
  #former: Syncer | undefined

  constructor(seed: number) {
    this.random = createRandom(seed)
    this.#churn = pick(this.random, [0, 0.2, 1])
    this.#loss = pick(this.random, [0, 0, 1])
    this.#settings = { networkPolicies: "allow", publishNodes: pick(this.random, ["all", "used"]) }
    this.faults = { random: this.random, probability: 0 }
    this.tenants = new RandomTenants(this.faults)
    this.superCluster.fail = (verb, _resource, made) => (verb === "create" ? this.#refuseInEnding(made) : undefined)
    this.#invariants = new Invariants(copied, this.superCluster, this.tenants)
    const { random, superCluster, faults } = this
    this.#admins = new RandomAdmins({ random, superCluster, faults, invariants: this.#invariants, churn: this.#churn })
  }

  /** What should not have happened. */
  get wrong(): readonly string[] {
    return this.#invariants.wrong
  }

  async start(): Promise<void> {
    await this.#admins.haveNodes()
    for (const name of ["acme", "other"]) await this.#addTenant(name)
    await this.#restart()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endFormer()
    await this.syncer?.[Symbol.asyncDispose]()
  }

  async #endFormer(): Promise<void> {
    await this.#former?.[Symbol.asyncDispose]()
    this.#former = undefined
  }

  /** It has ended, has died, or goes on for a while. */
  async #restart(): Promise<void> {
    const { tenants, superCluster, faults, clock, random } = this
    await this.#endFormer()
    if (chance(random, 0.3)) this.#former = this.syncer
    else {
      this.#life.isOver = chance(random, 0.5)
      const ended = this.syncer?.[Symbol.asyncDispose]()
      if (!this.#life.isOver) await ended
    }
    const life = (this.#life = { isOver: false })
    const superClient = mortalClient(faulty(superCluster, faults), life)
    this.syncer = await startSyncer({ tenants: mortalTenants(tenants, life), superClient, clock, ...this.#settings })
  }

  async #addTenant(name: string): Promise<void> {
    const uid = `${name}-${this.#serial++}`
    const cluster = this.tenants.add(
      fakeTenant(name, {
        uid,
        virtualCluster: { namespace: "default", name, uid },
        clusterKey: `default-${uid}`,
      }),
    )
    this.#invariants.follow(cluster)
    for (const home of homes) await this.#addNamespace(cluster, home)
  }

  async #addNamespace(cluster: FakeCluster, home: string): Promise<void> {
    if (cluster.find(namespaces, undefined, home) !== undefined) return
    await cluster.create(namespaces, object("Namespace", undefined, home))
    await cluster.create(serviceAccounts, object("ServiceAccount", home, "default"))
  }

  /** As a server does in a namespace that is being deleted. */
  #refuseInEnding(made: KubeObject | undefined): Error | undefined {
    const { namespace, name = "" } = made?.metadata ?? {}
    const home = namespace === undefined ? undefined : this.superCluster.find(namespaces, undefined, namespace)
    if (home?.metadata.deletionTimestamp === undefined) return undefined
    const cause = { reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated` }
    const { status } = forbidden({ group: "", resource: made?.kind ?? "" }, name, cause.message)
    return new StatusError({ ...status, details: { ...status.details, causes: [cause] } })
  }

  async step(): Promise<void> {
    const { random, tenants } = this
    await pick(random, [
      () => this.#use(),
      () => this.#use(),
      () => this.#use(),
      async () => this.#kubelet(pick(random, this.superCluster.all<Pod>(pods).concat(undefined as never))),
      () => this.#admins.meddle(),
      () => changeStorage(random, this.superCluster),
      async () => this.#admins.letGo(0.3),
      async () => tenants.sleep(pick(random, tenants.list()).name),
      async () => tenants.wake(pick(random, tenants.list()).name),
      async () => this.clock.advance(random(20_000)),
    ])()
    if (chance(random, 0.02 * this.#churn)) await this.#replaceTenant()
    if (chance(random, 0.04)) await this.#admins.changeNodes()
    if (chance(random, 0.02)) this.#admins.changeAdmission()
    if (chance(random, 0.02)) await this.#restart()
    if (chance(random, 0.02)) await this.#endFormer()
    if (chance(random, 0.02 * this.#loss)) this.#restore = this.superCluster.backup()
    if (this.#restore !== undefined && chance(random, 0.01)) await this.#goBack(this.#restore)
    for (let turn = random(4); turn > 0; turn--) await nextTurn()
  }

  async #goBack(restore: () => void): Promise<void> {
    const restoring = (): void => {
      restore()
      this.#invariants.restored()
    }
    await restored(restoring, this.faults, this.clock)
  }

  async #replaceTenant(): Promise<void> {
    const { name } = pick(this.random, this.tenants.list())
    this.tenants.remove(name)
    await this.#addTenant(name)
  }

  async #use(): Promise<void> {
    const { random } = this
    const { tenant, cluster } = pick(random, [...this.tenants.clusters.values()])
    this.tenants.wake(tenant.name)
    const home = pick(random, homes)
    const name = `o${random(4)}`
    if (chance(random, 0.04 * this.#churn)) return this.#delete(cluster, namespaces, undefined, home)
    await this.#addNamespace(cluster, home)
    if (chance(random, 0.04)) return this.#useClass(cluster, name)
    if (chance(random, 0.08)) return usePublished(random, cluster)
    const isPod = chance(random, 0.4)
    const [resource, kind, fill] = pick(random, contents)
    const value = random(9)
    if (isPod) return this.#usePod(cluster, home, name, `v${value}`)
    if (cluster.find(resource, home, name) === undefined)
      await cluster.create(resource, object(kind, home, name, fill(value)))
    else if (chance(random, 0.1)) cluster.edit(resource, home, name, forged(random, this.tenants.list()))
    else if (chance(random, 0.4)) await this.#delete(cluster, resource, home, name)
    else cluster.edit(resource, home, name, fill(value) as Record<string, unknown>)
  }

  async #useClass(cluster: FakeCluster, name: string): Promise<void> {
    const { random } = this
    const overhead = { podFixed: { cpu: `${1 + random(9)}m` } }
    if (cluster.find(runtimeClasses, undefined, name) === undefined)
      await cluster.create(runtimeClasses, object("RuntimeClass", undefined, name, { handler: "runc", overhead }))
    else if (chance(random, 0.4)) await this.#delete(cluster, runtimeClasses, undefined, name)
    else cluster.edit(runtimeClasses, undefined, name, { overhead })
  }

  async #usePod(cluster: FakeCluster, home: string, name: string, image: string): Promise<void> {
    if (await usePod(this.random, cluster, home, name, image)) return
    await this.#delete(cluster, pods, home, name, pick(this.random, [undefined, 0, 5]))
  }

  async #delete(
    cluster: FakeCluster,
    resource: Resource,
    namespace: string | undefined,
    name: string,
    gracePeriodSeconds?: number,
  ): Promise<void> {
    const object = cluster.find(resource, namespace, name)
    if (object === undefined) return
    const inside = resource === namespaces ? inNamespaces : []
    for (const one of [object, ...inside.flatMap((kind) => cluster.all<KubeObject>(kind, name))])
      this.#invariants.deleted.add(one.metadata.uid ?? "")
    if (gracePeriodSeconds !== 0 && resource === pods) this.#invariants.deleted.delete(object.metadata.uid ?? "")
    const hasNode = ((object["spec"] as { nodeName?: string } | undefined)?.nodeName ?? "") !== ""
    if (!hasNode) this.#invariants.deleted.add(object.metadata.uid ?? "")
    await cluster.delete(resource, namespace, name, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds })
  }

  /** Of one pod, what scheduler and kubelet do next. */
  #kubelet(pod: Pod | undefined): void {
    if (pod === undefined) return
    const { superCluster } = this
    const { namespace, name = "", deletionTimestamp } = pod.metadata
    if (deletionTimestamp !== undefined) this.#admins.remove(pods, pod)
    else if ((pod.spec?.nodeName ?? "") === "") {
      const { metadata } = pick(this.random, superCluster.all(nodes))
      superCluster.edit(pods, namespace, name, { spec: { nodeName: metadata.name } })
    } else if (pod.status?.phase !== "Running") {
      const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
      superCluster.edit(pods, namespace, name, { status })
    }
  }

  /** What is still different once everybody has had time. */
  async left(): Promise<string[]> {
    this.faults.probability = 0
    await this.#endFormer()
    // The pods of a node that is gone wait for the tenant's own controllers.
    await this.#admins.haveNodes()
    this.faults.denied = undefined
    for (const { name } of this.tenants.list()) this.tenants.wake(name)
    let left: string[] = ["nothing has been compared"]
    for (let round = 0; round < 60 && left.length > 0; round++) {
      for (const pod of this.superCluster.all<Pod>(pods)) this.#kubelet(pod)
      this.#admins.letGo(1)
      await finishStorage(this.superCluster)
      this.clock.advance(10_000)
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      left = this.#differences()
    }
    return left
  }

  #differences(): string[] {
    const known = [...this.tenants.clusters.values()]
    const keys = new Set(known.map(({ tenant }) => tenant.clusterKey))
    const orphans = this.superCluster
      .all(namespaces)
      .filter(({ metadata }) => !keys.has(metadata.annotations?.[clusterAnnotation] ?? ""))
    return [
      ...differences(this.superCluster, known, this.#settings),
      ...disappointed(
        this.superCluster,
        known.map(({ cluster }) => cluster),
        copied,
        this.#invariants.isRestored,
      ),
      ...orphans.map(({ metadata }) => `orphan ${metadata.name}`),
      ...(this.syncer?.pending === 0 ? [] : ["keys are pending"]),
    ]
  }
}
