// The subjects of a rule of a flow schema, by kind and name: each request is compared with all rules before it has turns, and both a rule
// and a caller may name thousands.

import type * as models from "@kubernetes/client-node"
import type { Wire } from "../../../apimachinery/object.ts"
import { serviceAccountPrefix, serviceAccountUser, type User } from "../../request/user.ts"

const anything = "*"

type Subject = Wire<models.FlowcontrolV1Subject>

export interface Caller {
  name: string
  groups: ReadonlySet<string>
  /** As {@link User} names the service accounts of the caller's namespace, without their names. Undefined: it is none. */
  accounts: string | undefined
}

export function callerOf({ name, groups }: User): Caller {
  const end = name.startsWith(serviceAccountPrefix) ? name.indexOf(":", serviceAccountPrefix.length) : -1
  return { name, groups: new Set(groups), accounts: end === -1 ? undefined : name.slice(0, end + 1) }
}

export class Subjects {
  readonly #users = new Set<string>()
  readonly #groups = new Set<string>()
  /** Prefixes of the service accounts of namespaces. */
  readonly #accounts = new Set<string>()

  constructor(subjects: readonly Subject[] = []) {
    for (const subject of subjects) this.#add(subject)
  }

  #add({ kind, user, group, serviceAccount }: Subject): void {
    if (kind === "User" && user !== undefined) this.#users.add(user.name)
    else if (kind === "Group" && group !== undefined) this.#groups.add(group.name)
    else if (kind === "ServiceAccount" && serviceAccount !== undefined) {
      const { namespace, name } = serviceAccount
      if (name === anything) this.#accounts.add(serviceAccountUser(namespace, ""))
      else this.#users.add(serviceAccountUser(namespace, name))
    }
  }

  include({ name, groups, accounts }: Caller): boolean {
    const users = this.#users
    if (users.has(anything) || users.has(name) || this.#groups.has(anything)) return true
    if (accounts !== undefined && this.#accounts.has(accounts)) return true
    return !this.#groups.isDisjointFrom(groups)
  }
}
