// The Services behind a control plane's aggregated APIs. A change of one of them, or of its endpoints, may change whether the APIs are
// available. They are watched while there are any.

import { serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { failureFields, type Log } from "../../client/log.ts"
import { endpointSlices, services } from "../../client/resources.ts"
import type { APIService } from "../../client/api-services.ts"
import type { Store, StoreEvent, Watcher } from "../../storage/types.ts"
import { everything, storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { parseStored } from "../registry/generic/storage/store-view.ts"

const servicesPrefix = storagePrefixOf(services.group, services.resource)
const slicesPrefix = storagePrefixOf(endpointSlices.group, endpointSlices.resource)

interface BackingServicesParts {
  store: Store
  onChange: () => void
  log: Log
}

export class BackingServices implements AsyncDisposable {
  readonly #parts: BackingServicesParts
  /** "<namespace>/<name>" */
  #names: ReadonlySet<string> = new Set()
  #namespaces: ReadonlySet<string> = new Set()
  #watcher: Watcher | undefined
  #watching: Promise<void> | undefined
  #isOver = false

  constructor(parts: BackingServicesParts) {
    this.#parts = parts
  }

  /** Call with all APIServices that have a server. */
  follow(remote: readonly APIService[]): void {
    const references = remote.flatMap(({ spec }) => spec?.service ?? [])
    this.#names = new Set(references.map(({ namespace = "", name = "" }) => `${namespace}/${name}`))
    this.#namespaces = new Set(references.map(({ namespace = "" }) => namespace))
    if (references.length === 0) this.#watcher?.close()
    else if (this.#watcher === undefined && !this.#isOver) this.#watching = this.#watch()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#watcher?.close()
    await this.#watching
  }

  async #watch(): Promise<void> {
    const { store, onChange, log } = this.#parts
    const concerns = (key: string): boolean => this.#isIn(key, servicesPrefix) || this.#isIn(key, slicesPrefix)
    const watcher = store.watch(everything, { after: store.revision, concerns })
    this.#watcher = watcher
    try {
      for await (const events of watcher) if (events.some((event) => this.#isOf(event))) onChange()
    } catch (error) {
      // The checks continue at intervals; the next one watches again.
      log.warn(failureFields(error), "watch of the Services of aggregated APIs ended")
    } finally {
      this.#watcher = undefined
    }
  }

  #isIn(key: string, prefix: string): boolean {
    return key.startsWith(prefix) && this.#namespaces.has(key.slice(prefix.length, key.indexOf("/", prefix.length)))
  }

  #isOf({ current, previous }: StoreEvent): boolean {
    const { key } = current
    if (key.startsWith(servicesPrefix)) return this.#names.has(key.slice(servicesPrefix.length))
    return [current, previous].some((item) => {
      const { metadata } = (item === undefined ? { metadata: {} } : parseStored(item)) as KubeObject
      return this.#names.has(`${metadata.namespace ?? ""}/${metadata.labels?.[serviceNameLabel] ?? ""}`)
    })
  }
}
