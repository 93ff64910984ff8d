// Lists of type set and map, whose order is ignored and to which items are added once. Like upstream, items are identified by their JSON
// and not by their value in expressions: a number without a fraction and a time are never those of a list that an expression has read.
// Source: k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.

import type { Json } from "../object.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { equal } from "./compare.ts"
import { ArrayList, type CelError, itemsOf, ListValue, type Value } from "./values.ts"

/** Undefined: it is identical to nothing. */
type Identity = string | undefined

/** Of an item as it was parsed; of a whole number without regard to how it was written. */
export function jsonIdentity(json: Json): Identity {
  if (json === null) return "null"
  if (typeof json === "object") return undefined
  return typeof json === "string" ? JSON.stringify(json) : isInteger(json) ? `int ${json}` : String(json)
}

/** Of a value that an expression has read or made. */
function valueIdentity(value: Value): Identity {
  if (typeof value === "bigint") return `int ${value}`
  if (typeof value === "number") return String(value)
  return value === null || typeof value === "boolean" || typeof value === "string" ? jsonIdentity(value) : undefined
}

abstract class IdentifiedList extends ListValue {
  readonly #items: ListValue
  readonly #identify: () => readonly Identity[]
  #identities: readonly Identity[] | undefined

  constructor(items: ListValue, identities: () => readonly Identity[]) {
    super()
    this.#items = items
    this.#identify = identities
  }

  get size(): number {
    return this.#items.size
  }

  at(index: number): Value {
    return this.#items.at(index)
  }

  override withoutSchema(): Value {
    return this.#items.withoutSchema?.() ?? this.#items
  }

  protected get identities(): readonly Identity[] {
    return (this.#identities ??= this.#identify())
  }
}

export class SetList extends IdentifiedList {
  #known: Set<string> | undefined

  /** Like upstream, remembers also what has been added to this list to make others. */
  get #set(): Set<string> {
    return (this.#known ??= new Set(this.identities.filter((one) => one !== undefined)))
  }

  override equals(other: ListValue): boolean {
    if (this.size !== other.size) return false
    for (const item of itemsOf(other)) if (!this.#set.has(valueIdentity(item) ?? "")) return false
    return true
  }

  override concat(other: ListValue): Value {
    const [items, identities] = [[...itemsOf(this)], [...this.identities]]
    for (const item of itemsOf(other)) {
      const identity = valueIdentity(item)
      if (identity !== undefined && this.#set.has(identity)) continue
      if (identity !== undefined) this.#set.add(identity)
      items.push(item)
      identities.push(identity)
    }
    return new SetList(new ArrayList(items), () => identities)
  }
}

export class KeyedList extends IdentifiedList {
  readonly #identityOf: (item: Value) => Identity
  #byKey: ReadonlyMap<Identity, Value> | undefined

  constructor(items: ListValue, identities: () => readonly Identity[], identityOf: (item: Value) => Identity) {
    super(items, identities)
    this.#identityOf = identityOf
  }

  /** Of several items with the same keys, the last. */
  get #index(): ReadonlyMap<Identity, Value> {
    return (this.#byKey ??= new Map(this.identities.map((identity, index) => [identity, this.at(index)])))
  }

  override equals(other: ListValue): boolean | CelError {
    if (this.size !== other.size) return false
    for (const item of itemsOf(other)) {
      const identity = this.#identityOf(item)
      const mine = identity === undefined ? undefined : this.#index.get(identity)
      const isSame = mine !== undefined && equal(mine, item)
      if (isSame !== true) return isSame
    }
    return true
  }

  override concat(other: ListValue): Value {
    const [items, identities] = [[...itemsOf(this)], [...this.identities]]
    const places = new Map(identities.map((identity, index) => [identity, index]))
    for (const item of itemsOf(other)) {
      const identity = this.#identityOf(item)
      const place = identity === undefined ? undefined : places.get(identity)
      if (place !== undefined) items[place] = item
      else {
        items.push(item)
        identities.push(identity)
      }
    }
    return new KeyedList(new ArrayList(items), () => identities, this.#identityOf)
  }
}
