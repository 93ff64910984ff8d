// The bindings of the cluster, or of one namespace, by whom they are for: every request asks, there may be very many, and few of
// them mean who asks.

import type { User } from "../request/user.ts"
import type { Binding, Bound, Subject } from "./rbac.ts"

interface Entry extends Bound {
  /** Of the binding among all, and of the subject in it. */
  readonly order: number
  readonly at: number
}

/** Who is named → by which bindings, each with the first of its subjects that names him. */
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
  /** By the names that their users have. */
  readonly #accounts: Index = new Map()
  #last = 0

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  get size(): number {
    return this.#known.size
  }

  /** In the order in which they came, each once. */
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

  /** Undefined: it names nobody. */
  #placeOf({ kind, name, namespace = "" }: Subject): { index: Index; name: string } | undefined {
    if (kind === "User") return { index: this.#users, name }
    if (kind === "Group") return { index: this.#groups, name }
    const home = namespace === "" ? this.#namespace : namespace
    if (kind !== "ServiceAccount" || home === "") return undefined
    return { index: this.#accounts, name: `system:serviceaccount:${home}:${name}` }
  }
}

function take(entries: ReadonlyMap<Known, Entry> | undefined, into: Entry[]): void {
  if (entries !== undefined) for (const entry of entries.values()) into.push(entry)
}
