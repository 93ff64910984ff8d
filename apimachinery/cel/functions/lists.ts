// Functions of lists and sets. Source: k8s.io/apiserver/pkg/cel/library/lists.go, cel-go/ext/{lists,sets}.go.

import { sortSlice } from "../../go/sort-slice.ts"
import { dictionary } from "../../dictionary.ts"
import { add } from "./arithmetic.ts"
import { areEqual, compareValues, isComparable } from "../compare.ts"
import { stringIndexOf, stringLastIndexOf } from "./strings.ts"
import {
  ArrayList,
  CelError,
  Duration,
  isError,
  itemsOf,
  keyOf,
  ListValue,
  MapValue,
  Optional,
  typeNameOf,
  UInt,
  type Value,
  type Implementation,
} from "../values.ts"
import { step } from "../work.ts"

/** Maximum number of elements of lists.range(n): memory is allocated before costs are counted. */
const maxRange = 1_000_000

function ofList(make: (list: ListValue) => Value | undefined): Implementation {
  return ([list]) => (list instanceof ListValue ? make(list) : undefined)
}

function contains(list: ListValue, sought: Value): boolean {
  for (let index = 0; index < list.size; index++) if (areEqual(list.at(index), sought)) return true
  return false
}

/** Upstream chooses the overload by the first element. Others may be of other types: they have no order with those before. */
function ofComparable(make: (list: ListValue) => Value): Implementation {
  return ofList((list) => {
    if (list.size > 0 && !isComparable(list.at(0))) return undefined
    return [...itemsOf(list)].every(isComparable) ? make(list) : new CelError("no such overload")
  })
}

function isSorted(list: ListValue): Value {
  for (let index = 1; index < list.size; index++) {
    const order = compareValues(list.at(index - 1), list.at(index))
    if (typeof order === "number" && order > 0) return false
  }
  return true
}

function extreme(name: "min" | "max"): Implementation {
  return ofComparable((list) => {
    if (list.size === 0) return new CelError(`${name} called on empty list`)
    let best = list.at(0)
    for (const item of itemsOf(list)) {
      const order = compareValues(item, best)
      // NaN is neither more nor less.
      if (typeof order !== "number") continue
      if (name === "min" ? order < 0 : order > 0) best = item
    }
    return best
  })
}

const zeros: Readonly<Record<string, Value>> = dictionary({
  list_double_sum_double: 0,
  list_duration_sum_duration: new Duration(0n),
  list_uint_sum_uint: new UInt(0n),
})

/** `overload`: undefined if it depends on the values. */
export function summing(overload: string | undefined): Implementation {
  return ofList((list) => sum(list, zeros[overload ?? ""] ?? 0n))
}

function sum(list: ListValue, none: Value): Value | undefined {
  if (list.size === 0) return none
  const first = list.at(0)
  if (!["bigint", "number"].includes(typeof first) && !(first instanceof UInt) && !(first instanceof Duration)) {
    return undefined
  }
  // Zero is added, which takes the sign from one that has it.
  let total = typeof first === "number" ? first + 0 : first
  for (let index = 1; index < list.size && !isError(total); index++) total = add(total, list.at(index))
  return total
}

function position([list, sought]: readonly Value[], last: boolean): Value | undefined {
  if (!(list instanceof ListValue) || sought === undefined) return undefined
  let found = -1
  for (let index = 0; index < list.size; index++) {
    if (!areEqual(list.at(index), sought)) continue
    found = index
    if (!last) break
  }
  return BigInt(found)
}

function sorted(list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size) return new CelError("no such overload")
  if (keys.size > 0 && !isComparable(keys.at(0))) return new CelError("list elements must be comparable")
  const type = keys.size === 0 ? "" : typeNameOf(keys.at(0))
  let fault: CelError | undefined
  const order = Array.from({ length: keys.size }, (_, index) => index)
  sortSlice(order, (a, b) => {
    const [left, right] = [keys.at(a), keys.at(b)]
    if (typeNameOf(left) !== type || typeNameOf(right) !== type)
      fault ??= new CelError("list elements must have the same type")
    const compared = compareValues(left, right)
    return typeof compared === "number" && compared < 0
  })
  return fault ?? new ArrayList(order.map((index) => list.at(index)))
}

function slice([list, start, end]: readonly Value[]): Value | undefined {
  if (!(list instanceof ListValue) || typeof start !== "bigint" || typeof end !== "bigint") return undefined
  if (start < 0n || end < 0n) return new CelError(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    return new CelError(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  if (list.size < end) return new CelError(`cannot slice(${start}, ${end}), list is length ${list.size}`)
  return new ArrayList([...itemsOf(list)].slice(Number(start), Number(end)))
}

function flatten(list: ListValue, depth: number): Value[] {
  const result: Value[] = []
  for (const item of itemsOf(list)) {
    step()
    if (!(item instanceof ListValue) || depth === 0) result.push(item)
    else for (const inner of flatten(item, depth - 1)) result.push(inner)
  }
  return result
}

/** Compares simple values by key, and others one by one. */
function distinct(list: ListValue): Value {
  const seen = new Set<unknown>()
  const others: Value[] = []
  const result: Value[] = []
  for (const item of itemsOf(list)) {
    const isSimple = item === null || typeof item !== "object" || item instanceof UInt
    if (isSimple ? seen.has(keyOf(item)) : others.some((other) => areEqual(other, item))) continue
    if (isSimple) seen.add(keyOf(item))
    else others.push(item)
    result.push(item)
  }
  return new ArrayList(result)
}

function ofTwoLists(make: (a: ListValue, b: ListValue) => boolean): Implementation {
  return ([a, b]) => (a instanceof ListValue && b instanceof ListValue ? make(a, b) : undefined)
}

function containsAll(list: ListValue, others: ListValue): boolean {
  for (const item of itemsOf(others)) if (!contains(list, item)) return false
  return true
}

function range([count]: readonly Value[]): Value | undefined {
  if (typeof count !== "bigint") return undefined
  if (count > BigInt(maxRange)) return new CelError(`lists.range: more than ${maxRange} elements`)
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)))
}

export const listFunctions: Readonly<Record<string, Implementation>> = dictionary({
  "@in": ([value, container]) => {
    if (value === undefined) return undefined
    if (container instanceof ListValue) return contains(container, value)
    return container instanceof MapValue ? container.get(value) !== undefined : new CelError("no such overload")
  },
  "@sortByAssociatedKeys": ([list, keys]) =>
    list instanceof ListValue && keys instanceof ListValue ? sorted(list, keys) : undefined,
  distinct: ofList(distinct),
  first: ofList((list) => (list.size === 0 ? Optional.none : new Optional(list.at(0)))),
  flatten: ([list, depth]) => {
    if (!(list instanceof ListValue) || (depth !== undefined && typeof depth !== "bigint")) return undefined
    if (depth !== undefined && depth < 0n) return new CelError("level must be non-negative")
    return new ArrayList(flatten(list, depth === undefined ? 1 : Number(depth)))
  },
  indexOf: (args) => (typeof args[0] === "string" ? stringIndexOf(args) : position(args, false)),
  isSorted: ofComparable(isSorted),
  last: ofList((list) => (list.size === 0 ? Optional.none : new Optional(list.at(list.size - 1)))),
  lastIndexOf: (args) => (typeof args[0] === "string" ? stringLastIndexOf(args) : position(args, true)),
  "lists.range": range,
  max: extreme("max"),
  min: extreme("min"),
  reverse: ofList((list) => new ArrayList([...itemsOf(list)].reverse())),
  "sets.contains": ofTwoLists(containsAll),
  "sets.equivalent": ofTwoLists((a, b) => containsAll(a, b) && containsAll(b, a)),
  "sets.intersects": ofTwoLists((a, b) => [...itemsOf(a)].some((item) => contains(b, item))),
  slice,
  sort: ([list]) => (list instanceof ListValue ? sorted(list, list) : new CelError("no such overload")),
  sum: summing(undefined),
})
