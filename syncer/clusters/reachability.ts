// Whether the super cluster responds, and allows listing all resources: derived from every call and logged once per change, so
// that an outage causes two log lines instead of one per object.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, KubeList, ListOptions, Resource } from "../../client/rest.ts"
import { isRefusal } from "../failures.ts"

export class Reachability {
  readonly #log: Log
  #reachable: boolean | undefined
  /** Resources that cannot be listed. */
  readonly #unlisted = new Set<string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Any response counts, even a refusal. */
  answered(): void {
    if (this.#reachable === true) return
    if (this.#reachable === false) this.#log.info({}, "the super cluster is available again")
    this.#reachable = true
  }

  failed(error: unknown): void {
    if (error instanceof StatusError && error.code < 500 && error.code !== 401) {
      this.answered()
      return
    }
    // The caller aborted the request at the end of the process, which says nothing about the super cluster.
    if (this.#reachable === false || (error instanceof Error && error.name === "AbortError")) return
    this.#reachable = false
    const message = errorMessage(error)
    this.#log.warn({ error: message }, "the super cluster is unavailable; retrying")
  }

  listed({ resource }: Resource): void {
    if (this.#unlisted.delete(resource))
      this.#log.info({ resource }, "this resource can be listed in the super cluster now")
  }

  /** A resource that is not served or not allowed remains so until somebody changes that. */
  notListed({ resource }: Resource, error: unknown): void {
    if ((!isRefusal(error) && !isNotFound(error)) || this.#unlisted.has(resource)) return
    this.#unlisted.add(resource)
    const text =
      "this resource cannot be listed in the super cluster and is not synced; check the permissions of the syncer"
    this.#log.warn({ resource, error: error.message }, text)
  }
}

/** Returns a client that reports its calls. */
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
  const list = async <T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>> => {
    try {
      const page = await observed(client.list<T>(resource, options))
      reachability.listed(resource)
      return page
    } catch (error) {
      reachability.notListed(resource, error)
      throw error
    }
  }
  return {
    discover: () => observed(client.discover()),
    unavailable: () => observed(client.unavailable()),
    get: (resource, namespace, name, options) => observed(client.get(resource, namespace, name, options)),
    raw: (path) => observed(client.raw(path)),
    list,
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
