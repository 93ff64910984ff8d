// The RBAC objects of one control plane, kept in memory and in step with its store (store-view.ts). Built when somebody who is
// not an administrator first asks.

import type { Log } from "../../client/log.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import type { Store } from "../../storage/types.ts"
import { parseStored, StoreView } from "../registry/store-view.ts"
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

export class PolicyView implements PolicySource, AsyncDisposable {
  readonly #view: StoreView<PolicyMaps>

  constructor({ store, prefix, baseObject, log }: PolicyViewOptions) {
    this.#view = new StoreView<PolicyMaps>({
      store,
      prefix,
      log,
      read(items) {
        const maps = new PolicyMaps(prefix)
        for (const item of items) {
          const shared = item.modRevision === baseRevision ? baseObject?.(item.key) : undefined
          maps.put(item.key, (shared ?? parseStored(item)) as StoredPolicy)
        }
        return maps
      },
      apply(maps, events) {
        for (const { type, current } of events) {
          if (type === "delete") maps.delete(current.key)
          else maps.put(current.key, parseStored(current) as StoredPolicy)
        }
      },
    })
  }

  current(): Promise<Policy> {
    return this.#view.opened()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#view[Symbol.asyncDispose]()
  }
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
