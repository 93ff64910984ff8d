// The RBAC objects of one control plane, kept in memory and in step with its store. Built when somebody who is not an
// administrator first asks. The store tells its watches of a write before it acknowledges it, and what it tells is applied
// without waiting, so a request that follows an acknowledged write sees it.

import type { KeyValue, Store, StoreEvent, Watcher } from "../../storage/types.ts"
import type { Log } from "../../client/log.ts"
import type { Binding, Policy, PolicySource, RoleReference, Subject } from "./rbac.ts"
import type { PolicyRule } from "./types.ts"

export interface PolicyViewOptions {
  store: Store
  /** Where roles, clusterroles, rolebindings and clusterrolebindings lie: "<prefix>clusterroles/admin". */
  prefix: string
  /** The parsed form of what lies in the base layer and is unchanged: shared by all control planes. */
  baseObject?: (key: string) => unknown
  log: Log
}

/** What is read of the four kinds. */
interface StoredPolicy {
  rules?: readonly PolicyRule[] | null
  subjects?: readonly Subject[] | null
  roleRef?: RoleReference
}

/** What a base layer holds was there before the first write. */
const baseRevision = 1

export class PolicyView implements PolicySource, AsyncDisposable {
  readonly #options: PolicyViewOptions
  #opening: Promise<PolicyMaps> | undefined
  #watcher: Watcher | undefined
  #following: Promise<void> | undefined

  constructor(options: PolicyViewOptions) {
    this.#options = options
  }

  current(): Promise<Policy> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #open(): Promise<PolicyMaps> {
    const { store, prefix, baseObject } = this.#options
    const { items, revision } = await store.range(prefix)
    const maps = new PolicyMaps(prefix)
    for (const item of items) {
      const shared = item.modRevision === baseRevision ? baseObject?.(item.key) : undefined
      maps.put(item.key, (shared as StoredPolicy | undefined) ?? parse(item))
    }
    const watcher = store.watch(prefix, { after: revision })
    this.#watcher = watcher
    this.#following = this.#follow(watcher, maps)
    return maps
  }

  /** When the watch cannot go on, the next question reads everything anew. */
  async #follow(watcher: Watcher, maps: PolicyMaps): Promise<void> {
    try {
      for await (const events of watcher) for (const event of events) apply(maps, event)
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, "watch of the policy ended, reading it again")
    } finally {
      if (this.#watcher === watcher) this.#opening = undefined
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined) // already told to whoever asked
    this.#watcher?.close()
    await this.#following
  }
}

function apply(maps: PolicyMaps, { type, current }: StoreEvent): void {
  if (type === "delete") maps.delete(current.key)
  else maps.put(current.key, parse(current))
}

function parse(item: KeyValue): StoredPolicy {
  return JSON.parse(
    Buffer.from(item.value.buffer, item.value.byteOffset, item.value.byteLength).toString(),
  ) as StoredPolicy
}

class PolicyMaps implements Policy {
  readonly roles = new Map<string, readonly PolicyRule[]>()
  readonly clusterRoles = new Map<string, readonly PolicyRule[]>()
  readonly #clusterRoleBindings = new Map<string, Binding>()
  readonly #roleBindings = new Map<string, Map<string, Binding>>()
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  clusterRoleBindings(): Iterable<Binding> {
    return this.#clusterRoleBindings.values()
  }

  roleBindings(namespace: string): Iterable<Binding> {
    return this.#roleBindings.get(namespace)?.values() ?? []
  }

  namespaces(): Iterable<string> {
    return this.#roleBindings.keys()
  }

  put(key: string, object: StoredPolicy): void {
    const [resource, first = "", second = ""] = this.#split(key)
    const binding = (name: string): Binding => ({
      name,
      subjects: object.subjects ?? [],
      roleRef: object.roleRef ?? { kind: "", name: "" },
    })
    if (resource === "clusterroles") this.clusterRoles.set(first, object.rules ?? [])
    else if (resource === "roles") this.roles.set(`${first}/${second}`, object.rules ?? [])
    else if (resource === "clusterrolebindings") this.#clusterRoleBindings.set(first, binding(first))
    else if (resource === "rolebindings") {
      let inNamespace = this.#roleBindings.get(first)
      if (inNamespace === undefined) this.#roleBindings.set(first, (inNamespace = new Map()))
      inNamespace.set(second, binding(second))
    }
  }

  delete(key: string): void {
    const [resource, first = "", second = ""] = this.#split(key)
    if (resource === "clusterroles") this.clusterRoles.delete(first)
    else if (resource === "roles") this.roles.delete(`${first}/${second}`)
    else if (resource === "clusterrolebindings") this.#clusterRoleBindings.delete(first)
    else if (resource === "rolebindings") {
      const inNamespace = this.#roleBindings.get(first)
      inNamespace?.delete(second)
      if (inNamespace?.size === 0) this.#roleBindings.delete(first)
    }
  }

  #split(key: string): string[] {
    return key.slice(this.#prefix.length).split("/")
  }
}
