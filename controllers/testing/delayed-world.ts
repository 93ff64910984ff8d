// Controllers of one tenant that hear late of changes, and whose calls may fail, on a clock that only the test advances.

import type { KubeObject } from "../../apimachinery/object.ts"
import { chance, type Random } from "../../apimachinery/testing/random.ts"
import { silentLog } from "../../client/log.ts"
import type { Resource } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { faulty, type Faults } from "../../client/testing/faulty-client.ts"
import { type Life, mortalTenants } from "../../client/testing/mortal.ts"
import { startControllers } from "../main.ts"
import { DelayedTenant } from "./delayed-tenant.ts"

/** The kubelets of nodes report this often. */
const longestStepSeconds = 10

export class DelayedWorld implements AsyncDisposable {
  readonly clock = new FakeClock()
  readonly cluster = new FakeCluster({ clock: this.clock })
  readonly random: Random
  /** Of the controllers' calls. */
  readonly faults: Faults
  readonly #only: readonly string[]
  #tenant: DelayedTenant | undefined
  #life: Life = { isOver: false }
  #controllers: AsyncDisposable | undefined

  constructor(random: Random, only: readonly string[]) {
    this.random = random
    this.faults = { random, probability: 0 }
    this.#only = only
  }

  /** Instead of those that run. */
  async start(): Promise<void> {
    await this.#controllers?.[Symbol.asyncDispose]()
    this.#tenant = new DelayedTenant(this.cluster, faulty(this.cluster, this.faults))
    this.#life = { isOver: false }
    const options = { rootCertificateAuthority: "", only: this.#only, clock: this.clock, log: silentLog }
    this.#controllers = startControllers(mortalTenants(this.#tenant.tenants, this.#life), options)
  }

  /** Their process dies, between any two of its calls, and another one starts. */
  async startAfterDeath(): Promise<void> {
    this.#life.isOver = true
    // What waits for an answer waits for ever.
    void this.#controllers?.[Symbol.asyncDispose]()
    this.#controllers = undefined
    await this.start()
  }

  get tenant(): DelayedTenant {
    if (this.#tenant === undefined) throw new Error("nothing has been started")
    return this.#tenant
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controllers?.[Symbol.asyncDispose]()
  }

  /** In the namespace "default", unless the fields have metadata. */
  async create(resource: Resource, apiVersion: string, kind: string, name: string, fields: object = {}): Promise<void> {
    const { metadata, ...others } = fields as Partial<KubeObject>
    const place = resource.namespaced ? { namespace: "default" } : {}
    await this.cluster.create(resource, { apiVersion, kind, metadata: { name, ...place, ...metadata }, ...others })
  }

  /** Some turns, in which some of the delayed events arrive. */
  async turns(count: number): Promise<void> {
    for (; count > 0; count--) {
      await new Promise((resolve) => setImmediate(resolve))
      if (chance(this.random, 0.3)) this.#tenant?.hear(this.random)
    }
  }

  /** All is heard, and what is due in that time is done. `meanwhile`: what nodes do, again and again. */
  async rest(seconds: number, meanwhile = (): void => undefined): Promise<void> {
    for (let passed = 0, step = 1; passed < seconds; passed += step) {
      step = Math.min(1 + Math.floor(passed / 10), longestStepSeconds)
      await this.#settle()
      meanwhile()
      this.clock.advance(1_000 * step)
    }
    await this.#settle()
  }

  async #settle(): Promise<void> {
    const calls = (): number => this.cluster.calls.values().reduce((sum, count) => sum + count, 0)
    for (let [quiet, before] = [0, -1]; quiet < 5; before = calls()) {
      await new Promise((resolve) => setImmediate(resolve))
      const hasHeard = this.#tenant?.hear(this.random) === true
      quiet = hasHeard || calls() !== before ? 0 : quiet + 1
    }
  }
}
