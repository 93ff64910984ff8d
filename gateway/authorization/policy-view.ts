// A view of the RBAC objects of one control plane (store-view.ts). It is read at the first request of a user who is not an
// administrator.

import type { Log } from "../../client/log.ts"
import { baseRevision } from "../../storage/base-layer.ts"
import type { Store } from "../../storage/types.ts"
import { parseStored, StoreView } from "../registry/generic/storage/store-view.ts"
import type { User } from "../request/user.ts"
import { Bindings } from "./bindings.ts"
import type { Bound, Policy, PolicySource, Subject } from "./rbac.ts"
import type { PolicyRule, RoleReference } from "./types.ts"

interface PolicyViewOptions {
  store: Store
  /** The prefix of roles, clusterroles, rolebindings and clusterrolebindings: "<prefix>clusterroles/admin". */
  prefix: string
  /** Returns the parsed form of an unchanged object of the base layer, shared by all control planes. */
  baseObject?: (key: string) => unknown
  log: Log
}

/** The fields of the four kinds that are used. */
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
      create: () => new PolicyMaps(prefix),
      put(maps, item) {
        const shared = item.modRevision === baseRevision ? baseObject?.(item.key) : undefined
        maps.put(item.key, (shared ?? parseStored(item)) as StoredPolicy)
      },
      delete: (maps, key) => maps.delete(key),
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
  /** By namespace; "" for cluster role bindings. */
  readonly #bindings = new Map<string, Bindings>()
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  bindingsOf(user: User, namespace: string): readonly Bound[] {
    return this.#bindings.get(namespace)?.of(user) ?? []
  }

  *namespaces(): Generator<string> {
    for (const namespace of this.#bindings.keys()) if (namespace !== "") yield namespace
  }

  put(key: string, object: StoredPolicy): void {
    const [resource, first = "", second = ""] = this.#split(key)
    const bind = (namespace: string, name: string): void => {
      let bindings = this.#bindings.get(namespace)
      if (bindings === undefined) this.#bindings.set(namespace, (bindings = new Bindings(namespace)))
      bindings.put({ name, subjects: object.subjects ?? [], roleRef: object.roleRef ?? { kind: "", name: "" } })
    }
    if (resource === "clusterroles") this.clusterRoles.set(first, object.rules ?? [])
    else if (resource === "roles") this.roles.set(`${first}/${second}`, object.rules ?? [])
    else if (resource === "clusterrolebindings") bind("", first)
    else if (resource === "rolebindings") bind(first, second)
  }

  delete(key: string): void {
    const [resource, first = "", second = ""] = this.#split(key)
    if (resource === "clusterroles") this.clusterRoles.delete(first)
    else if (resource === "roles") this.roles.delete(`${first}/${second}`)
    else if (resource === "clusterrolebindings") this.#unbind("", first)
    else if (resource === "rolebindings") this.#unbind(first, second)
  }

  #unbind(namespace: string, name: string): void {
    const bindings = this.#bindings.get(namespace)
    bindings?.delete(name)
    if (bindings?.size === 0) this.#bindings.delete(namespace)
  }

  #split(key: string): string[] {
    return key.slice(this.#prefix.length).split("/")
  }
}
