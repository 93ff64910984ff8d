// Whether the super cluster answers: learnt from every call, told once per change, so that an outage is two lines of log
// and not one per object.

import { errorMessage } from "../../apimachinery/error-message.ts"
import { StatusError } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"

export class Reachability {
  readonly #log: Log
  #reachable: boolean | undefined

  constructor(log: Log) {
    this.#log = log
  }

  get reachable(): boolean {
    return this.#reachable === true
  }

  /** Any answer counts, also one that refuses. */
  answered(): void {
    if (this.#reachable === true) return
    if (this.#reachable === false) this.#log.info({}, "the super cluster answers again")
    this.#reachable = true
  }

  failed(error: unknown): void {
    if (error instanceof StatusError && error.code < 500 && error.code !== 401) {
      this.answered()
      return
    }
    // Who asked has given up, at the end of the process: that says nothing of whom it asked.
    if (this.#reachable === false || (error instanceof Error && error.name === "AbortError")) return
    this.#reachable = false
    const message = errorMessage(error)
    this.#log.warn({ error: message }, "the super cluster does not answer; trying again")
  }
}

/** The same client, watched. */
export function observe(client: KubeClient, reachability: Reachability): KubeClient {
  const observed = async <T>(call: Promise<T>): Promise<T> => {
    try {
      const result = await call
      reachability.answered()
      return result
    } catch (error) {
      reachability.failed(error)
      throw error
    }
  }
  return {
    discover: () => observed(client.discover()),
    unavailable: () => observed(client.unavailable()),
    get: (resource, namespace, name, options) => observed(client.get(resource, namespace, name, options)),
    raw: (path) => observed(client.raw(path)),
    list: (resource, options) => observed(client.list(resource, options)),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options) => observed(client.create(resource, object, options)),
    update: (resource, object, options) => observed(client.update(resource, object, options)),
    patch: (resource, namespace, name, patch, options) =>
      observed(client.patch(resource, namespace, name, patch, options)),
    delete: (resource, namespace, name, options) => observed(client.delete(resource, namespace, name, options)),
    deleteCollection: (resource, namespace, selectors, options) =>
      observed(client.deleteCollection(resource, namespace, selectors, options)),
  }
}
