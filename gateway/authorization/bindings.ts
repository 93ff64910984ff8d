// An index of the bindings of the cluster, or of one namespace, by subject: every request uses it, there may be very many bindings,
// and few of them apply to a user.

import { serviceAccountUser, type User } from "../request/user.ts"
import type { Binding, Bound, Subject } from "./rbac.ts"

interface Entry extends Bound {
  /** The order of the binding, and of the subject in it. */
  readonly order: number
  readonly at: number
}

/** Subject → its bindings, each with the first matching subject. */
type Index = Map<string, Map<Known, Entry>>

interface Known {
  readonly order: number
  readonly named: { index: Index; name: string }[]
}

const none: readonly Bound[] = []

export class Bindings {
  /** "": the whole cluster. */
  readonly #namespace: string
  readonly #known = new Map<string, Known>()
  readonly #users: Index = new Map()
  readonly #groups: Index = new Map()
  /** By the user names of service accounts. */
  readonly #accounts: Index = new Map()
  #last = 0

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  get size(): number {
    return this.#known.size
  }

  /** In the order in which they were added, without duplicates. */
  of({ name, groups }: User): readonly Bound[] {
    const found: Entry[] = []
    take(this.#users.get(name), found)
    take(this.#accounts.get(name), found)
    for (const group of groups) take(this.#groups.get(group), found)
    if (found.length < 2) return found.length === 0 ? none : found
    found.sort((a, b) => a.order - b.order || a.at - b.at)
    return found.filter(({ order }, index) => order !== found[index - 1]?.order)
  }

  put(binding: Binding): void {
    const before = this.#known.get(binding.name)
    if (before !== undefined) this.#forget(before)
    const known: Known = { order: before?.order ?? ++this.#last, named: [] }
    this.#known.set(binding.name, known)
    for (const [at, subject] of binding.subjects.entries()) {
      const place = this.#placeOf(subject)
      if (place === undefined) continue
      const { index, name } = place
      let entries = index.get(name)
      if (entries === undefined) index.set(name, (entries = new Map()))
      if (entries.has(known)) continue
      entries.set(known, { binding, subject, order: known.order, at })
      known.named.push(place)
    }
  }

  delete(name: string): void {
    const known = this.#known.get(name)
    if (known === undefined) return
    this.#known.delete(name)
    this.#forget(known)
  }

  #forget(known: Known): void {
    for (const { index, name } of known.named) {
      const entries = index.get(name)
      entries?.delete(known)
      if (entries?.size === 0) index.delete(name)
    }
  }

  /** Returns undefined if the subject is invalid. */
  #placeOf({ kind, name, namespace = "" }: Subject): { index: Index; name: string } | undefined {
    if (kind === "User") return { index: this.#users, name }
    if (kind === "Group") return { index: this.#groups, name }
    const home = namespace === "" ? this.#namespace : namespace
    if (kind !== "ServiceAccount" || home === "") return undefined
    return { index: this.#accounts, name: serviceAccountUser(home, name) }
  }
}

function take(entries: ReadonlyMap<Known, Entry> | undefined, into: Entry[]): void {
  if (entries !== undefined) for (const entry of entries.values()) into.push(entry)
}
