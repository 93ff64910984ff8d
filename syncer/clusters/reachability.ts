// Whether the super cluster responds, and allows listing all resources: derived from every call and logged once per change, so
// that an outage causes two log lines instead of one per object.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import { ForwardingClient } from "../../client/forwarding-client.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient, KubeList, ListOptions, Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
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

/** A client that reports its calls. */
export class ObservedClient extends ForwardingClient {
  readonly #client: KubeClient
  readonly #reachability: Reachability

  constructor(client: KubeClient, reachability: Reachability) {
    super()
    this.#client = client
    this.#reachability = reachability
  }

  protected override async call<T>(make: (client: KubeClient) => Promise<T>): Promise<T> {
    try {
      const result = await make(this.#client)
      this.#reachability.answered()
      return result
    } catch (error) {
      this.#reachability.failed(error)
      throw error
    }
  }

  override async list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<KubeList<T>> {
    try {
      const page = await super.list<T>(resource, options)
      this.#reachability.listed(resource)
      return page
    } catch (error) {
      this.#reachability.notListed(resource, error)
      throw error
    }
  }

  override watch<T extends KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return this.#client.watch(resource, options)
  }
}
