// The life of the tenants of one name, at random: created, written and read, left alone until they sleep, deleted, created again. While
// processes of the gateway die, each answer is compared with what has been acknowledged.

import { setTimeout as delay } from "node:timers/promises"
import type { ConfigMap } from "../../../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../../apimachinery/status.ts"
import { chance, pick, type Random } from "../../../apimachinery/testing/random.ts"
import { loadKubeconfig } from "../../../client/credentials/kubeconfig.ts"
import { createHttpClient, type HttpClient } from "../../../client/http/client.ts"
import { Informer } from "../../../client/informers/informer.ts"
import { configMaps } from "../../../client/resources.ts"
import type { DeleteOptions } from "../../../client/rest.ts"
import type { Tenant, TenantAdmin } from "../../../client/tenants.ts"

interface LifeParts {
  name: string
  random: Random
  admin: TenantAdmin
  /** Ends the life: what is in progress ends first. */
  ended: AbortSignal
  /** Sentences about what must not be. */
  fault: (sentence: string) => void
}

const configMap = { apiVersion: "v1", kind: "ConfigMap" } as const
const namespace = "default"
const keys = ["a", "b", "c"]
/** After a request without an answer, which did or did not happen. */
const againMs = 20
/** Of what is repeated, as long as a gateway that is killed again and again may take. */
const patienceMs = 60_000
/** Tenants fall asleep after a second. */
const restMs = 2_500

/** What a key may have: undefined if it is not there. */
type Value = string | undefined

interface Incarnation {
  tenant: Tenant
  client: HttpClient
  informer: Informer<ConfigMap>
  ending: AbortController
  /** By key, what its last answer says, and what writes without an answer may have made of it since. */
  values: Map<string, { known: Value; possible: Value[] }>
  /** Objects whose names the gateway makes: by their mark, whether their creation was acknowledged. */
  made: Map<string, boolean>
}

export class TenantLife {
  readonly #parts: LifeParts
  #present: Incarnation | undefined
  #former: Incarnation | undefined
  #written = 0
  /** Acknowledged operations, by kind. */
  readonly done = new Map<string, number>()

  constructor(parts: LifeParts) {
    this.#parts = parts
  }

  get uid(): string | undefined {
    return this.#present?.tenant.uid
  }

  async run(): Promise<void> {
    const { ended } = this.#parts
    try {
      while (!ended.aborted) await this.#step()
    } catch (error) {
      this.#fault(String(error))
    }
  }

  async #step(): Promise<void> {
    const { random } = this.#parts
    if (this.#present === undefined) await this.#create()
    else if (chance(random, 0.02)) await this.#delete()
    else if (chance(random, 0.03)) await delay(random(restMs))
    else await this.#act(this.#present)
  }

  /** When nothing dies any more. */
  async finish(): Promise<void> {
    const present = this.#present
    if (present !== undefined) {
      await this.#list(present, true)
      await this.#checkInformer(present)
    }
    if (this.#former !== undefined) await this.#tryFormer(this.#former)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const incarnation of [this.#present, this.#former]) await incarnation?.client[Symbol.asyncDispose]()
    this.#present?.ending.abort()
  }

  #count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1)
  }

  #fault(sentence: string): void {
    this.#parts.fault(`${this.#parts.name} (${this.#present?.tenant.uid ?? "gone"}): ${sentence}`)
  }

  /** Until it is acknowledged: that may be repeated. */
  async #acknowledged<T>(what: string, work: () => Promise<T>): Promise<T> {
    for (const until = performance.now() + patienceMs; ;) {
      try {
        const result = await work()
        this.#count(what)
        return result
      } catch (error) {
        if (isAlreadyExists(error) || performance.now() > until) throw error
        await delay(againMs)
      }
    }
  }

  async #create(): Promise<void> {
    const { name, admin, random } = this.#parts
    const uid = `vc-${name}-${random(2 ** 31)}`
    const tenant = await this.#acknowledged("create", () =>
      admin.create({
        name,
        virtualCluster: { namespace: "default", name, uid },
        clusterKey: `${name}-key`,
        clusterDomain: "cluster.local",
        transparentMetaPrefixes: [],
        opaqueMetaPrefixes: [],
        controllers: true,
      }),
    )
    const text = await this.#acknowledged("kubeconfig", () => admin.kubeconfig(name))
    const client = createHttpClient(await loadKubeconfig(text))
    const informer = new Informer<ConfigMap>(client, configMaps, { namespace })
    const ending = new AbortController()
    this.#present = { tenant, client, informer, ending, values: new Map(), made: new Map() }
    // It continues by itself whatever happens to the gateway.
    informer.start(ending.signal).catch(() => undefined)
  }

  async #delete(): Promise<void> {
    const { name, admin } = this.#parts
    await this.#acknowledged("delete", () => admin.delete(name))
    await this.#former?.client[Symbol.asyncDispose]()
    this.#former = this.#present
    this.#former?.ending.abort()
    this.#present = undefined
  }

  async #act(incarnation: Incarnation): Promise<void> {
    const act = pick(this.#parts.random, [
      () => this.#write(incarnation),
      () => this.#write(incarnation),
      () => this.#make(incarnation),
      () => this.#list(incarnation, false),
      () => this.#tryFormer(this.#former),
    ])
    await act()
  }

  async #write({ client, values, tenant }: Incarnation): Promise<void> {
    const { random } = this.#parts
    const name = pick(random, keys)
    const state = values.get(name) ?? { known: undefined, possible: [] }
    values.set(name, state)
    const current = await this.#read(client, name).catch(() => "no answer" as const)
    if (current === "no answer") return delay(againMs)
    this.#observe(name, state, current?.data?.["value"])
    const value = `${++this.#written}`
    const metadata = { name, namespace, annotations: { of: tenant.uid } }
    const next = current === undefined ? value : chance(random, 0.3) ? undefined : value
    try {
      if (current === undefined) await client.create(configMaps, { ...configMap, metadata, data: { value } })
      else if (next === undefined) await client.delete(configMaps, namespace, name, preconditions(current))
      else await client.update(configMaps, { ...current, data: { value } })
      Object.assign(state, { known: next, possible: [] })
      this.#count("write")
    } catch (error) {
      const isRefused = isConflict(error) || isAlreadyExists(error) || isNotFound(error)
      // What had no answer before may have taken effect only now.
      if (isRefused && state.possible.length === 0) this.#fault(`nobody else writes ${name}: ${String(error)}`)
      if (!isRefused) state.possible.push(next)
      await delay(againMs)
    }
  }

  /** Undefined: it is not there. */
  async #read(client: HttpClient, name: string): Promise<ConfigMap | undefined> {
    try {
      return await client.get<ConfigMap>(configMaps, namespace, name)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #observe(name: string, state: { known: Value; possible: Value[] }, found: Value): void {
    if (found === state.known) return
    if (!state.possible.includes(found))
      this.#fault(`${name} is ${found}, after ${state.known} was acknowledged, or ${state.possible.join()}`)
    state.known = found
  }

  async #make({ client, made, tenant }: Incarnation): Promise<void> {
    const mark = `${++this.#written}`
    made.set(mark, false)
    const metadata = { generateName: "made-", namespace, annotations: { of: tenant.uid }, labels: { mark } }
    try {
      await client.create(configMaps, { ...configMap, metadata })
      made.set(mark, true)
      this.#count("make")
    } catch {
      await delay(againMs)
    }
  }

  async #list(incarnation: Incarnation, isLast: boolean): Promise<void> {
    const { client, made, values, tenant } = incarnation
    const acknowledged = [...made].filter(([, isThere]) => isThere).map(([mark]) => mark)
    const read = () => client.list<ConfigMap>(configMaps, { namespace })
    const found = await (isLast ? this.#acknowledged("list", read) : read().catch(() => undefined))
    if (found === undefined) return delay(againMs)
    this.#count("list")
    const marks: string[] = []
    const there = new Map<string, Value>()
    for (const { metadata, data } of found.items) {
      const { name = "", annotations = {}, labels = {} } = metadata
      if (name === "kube-root-ca.crt") continue
      if (annotations["of"] !== tenant.uid) this.#fault(`it has ${name} of ${annotations["of"]}`)
      if (labels["mark"] === undefined) there.set(name, data?.["value"])
      else marks.push(labels["mark"])
    }
    for (const [name, state] of values) this.#observe(name, state, there.get(name))
    for (const mark of acknowledged) if (!marks.includes(mark)) this.#fault(`${mark} was made and is gone`)
    if (new Set(marks).size < marks.length) this.#fault(`something was made twice: ${marks.join()}`)
    for (const mark of marks) if (!made.has(mark)) this.#fault(`nobody made ${mark}`)
  }

  async #checkInformer({ client, informer }: Incarnation): Promise<void> {
    const show = (objects: readonly ConfigMap[]): string =>
      objects
        .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
        .sort()
        .join()
    const { items } = await client.list<ConfigMap>(configMaps, { namespace })
    for (let left = 3_000; show(informer.list()) !== show(items); left--) {
      if (left === 0) return this.#fault(`a watch has ${show(informer.list())} instead of ${show(items)}`)
      await delay(againMs)
    }
  }

  /** A deleted tenant's credentials open nothing, even if there is another one of its name. */
  async #tryFormer(former: Incarnation | undefined): Promise<void> {
    if (former === undefined) return
    const found = await former.client.list<ConfigMap>(configMaps, { namespace }).catch(() => undefined)
    if (found !== undefined) this.#fault(`the credentials of ${former.tenant.uid} are accepted`)
  }
}

const preconditions = ({ metadata: { uid = "", resourceVersion = "" } }: ConfigMap): DeleteOptions => ({
  uid,
  resourceVersion,
})
