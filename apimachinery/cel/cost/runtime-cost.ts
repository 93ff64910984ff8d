// The cost of a call at run time, by the sizes of its arguments. The figures are kube-apiserver's, so that everything it allows
// is allowed here. Source: k8s.io/apiserver/pkg/cel/library/cost.go, cel-go/interpreter/runtimecost.go,
// cel-go/ext/{lists,sets}.go.

import { dictionary } from "../../dictionary.ts"
import { NamedFormat } from "../functions/named-formats.ts"
import { CelError, itemsOf, ListValue, MapValue, OpaqueValue, sizeOf, type Value } from "../values.ts"
import { step } from "../work.ts"

export type CallCost = (args: readonly Value[], result: Value) => number

/** For a name, an index or a selected field. */
export const selectCost = 1
export const listCost = 10
export const mapCost = 30
export const structCost = 40
const perCharacter = 0.1
const perPatternCharacter = 0.25
/** Two checks in an expression exceed the limit of one expression. */
const checkCost = 350_000

const size = (args: readonly Value[], index: number): number => sizeOf(args[index] ?? null)
const traversal = (characters: number): number => Math.ceil(characters * perCharacter)
const ofFirst: CallCost = (args) => traversal(size(args, 0))
const ofFirstTwice: CallCost = (args) => Math.ceil(size(args, 0) * 2 * perCharacter)
const one: CallCost = () => 1
const none: CallCost = () => 0

const pattern: CallCost = (args) =>
  Math.ceil((1 + size(args, 0)) * perCharacter) * Math.ceil(size(args, 1) * perPatternCharacter)

function deepTraversal(value: Value): number {
  step()
  if (typeof value === "string") return Math.trunc(Buffer.byteLength(value) * perCharacter)
  if (value instanceof Uint8Array) return Math.trunc(value.length * perCharacter)
  let cost = 0
  if (value instanceof ListValue) {
    for (const item of itemsOf(value)) cost += deepTraversal(item)
    return cost
  }
  if (!(value instanceof MapValue)) return 1
  for (const key of value.keys()) cost += deepTraversal(key) + deepTraversal(value.get(key) ?? null)
  return cost
}

const ofJoined: CallCost = (_args, result) => Math.ceil(sizeOf(result) * 2 * perCharacter)
const ofAll: CallCost = (args) => deepTraversal(args[0] ?? null)

/** By function, for all overloads. */
const byFunction: Readonly<Record<string, CallCost>> = dictionary({
  check: () => checkCost,
  fieldSelector: (args) => selector(size(args, 1)),
  find: pattern,
  findAll: pattern,
  "format.named": one,
  indexOf: ofAll,
  ip: (args) => (typeof args[0] === "string" ? traversal(size(args, 0)) : 1),
  "ip.isCanonical": ofFirstTwice,
  isSorted: ofAll,
  join: ofJoined,
  labelSelector: (args) => selector(size(args, 1)),
  lastIndexOf: ofAll,
  max: ofAll,
  min: ofAll,
  replace: ofFirstTwice,
  split: ofFirstTwice,
  sum: ofAll,
  validate: ([format, text]) =>
    format instanceof NamedFormat
      ? Math.ceil((1 + sizeOf(text ?? null)) * perCharacter) * Math.ceil(format.patternSize * perPatternCharacter)
      : 1,
  containsCIDR: (args) => traversal(size(args, 0) * 2) + traversal(size(args, 0)) + 1,
  containsIP: (args) => traversal(size(args, 0) * 2),
})
for (const name of [
  "cidr",
  "isCIDR",
  "isIP",
  "isQuantity",
  "isSemver",
  "jsonpatch.escapeKey",
  "lowerAscii",
  "quantity",
  "semver",
  "substring",
  "trim",
  "upperAscii",
  "url",
]) {
  Object.assign(byFunction, { [name]: ofFirst })
}

function selector(length: number): number {
  return listCost + traversal(length) + Math.ceil(Math.ceil(length * 0.5) * (listCost + structCost))
}

const smallest: CallCost = (args) => traversal(Math.min(size(args, 0), size(args, 1)))
const both: CallCost = (args) => traversal(size(args, 0) + size(args, 1))
const allocated = (cost: number): number => Math.trunc(cost) + 1 + listCost
const ofResult: CallCost = (_args, result) => allocated(sizeOf(result))
/** Costs that are only known after the call; all others depend on the arguments. */
export const costsOfOutcome: ReadonlySet<CallCost> = new Set([ofResult, ofJoined])
const setCost =
  (factor: number): CallCost =>
  (args) =>
    1 + Math.trunc(size(args, 0) * size(args, 1) * factor)

/** Upstream's evaluation ends where it computes the cost of a call with what is not there because of an error. */
export class Crash extends Error {}

function selfCompared(index: number): CallCost {
  return (args) => {
    const list = args[index]
    if (list instanceof CelError)
      throw new Crash("interface conversion: *types.Err is not traits.Lister: missing method Add")
    if (!(list instanceof ListValue) || list.size === 0) return allocated(0)
    const first = list.at(0)
    const factor = typeof first === "string" || first instanceof Uint8Array ? 2 + perCharacter : 2
    return allocated(list.size * list.size * factor)
  }
}

/** By overload, for calls with only one; they precede those by function. The default is 1. */
const byOverload: Readonly<Record<string, CallCost>> = dictionary({
  add_bytes: both,
  add_string: both,
  bytes_to_string: ofFirst,
  cidr_contains_cidr_string: (args) =>
    traversal(size(args, 0) * 2) + traversal(size(args, 0)) + 1 + traversal(size(args, 1)),
  cidr_contains_ip_string: (args) => traversal(size(args, 0) * 2) + traversal(size(args, 1)),
  contains_string: (args) => traversal(size(args, 0)) * traversal(size(args, 1)),
  ends_with_string: ofFirst,
  in_list: (args) => size(args, 1),
  list_distinct: selfCompared(0),
  list_flatten: (args) => allocated(size(args, 0)),
  list_flatten_int: ([list = null, depth]) => {
    if (depth instanceof CelError) throw new Crash("interface conversion: ref.Val is *types.Err, not types.Int")
    return allocated(sizeOf(list) * (typeof depth === "bigint" ? Number(depth) : 1))
  },
  list_reverse: ofResult,
  list_sets_contains_list: setCost(1),
  list_sets_equivalent_list: setCost(2),
  list_sets_intersects_list: setCost(1),
  list_slice: ofResult,
  lists_range: ofResult,
  matches_string: pattern,
  starts_with_string: ofFirst,
  string_format: ofFirst,
  string_to_bytes: ofFirst,
  strings_quote: ofFirst,
})
const ordered = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/
const sorts = /^list_.*_sort$/
const sortsByKeys = /^list_.*_sortByAssociatedKeys$/

/** `overload`: undefined if there are several candidates. */
export function callCostOf(name: string, overload: string | undefined): CallCost {
  if (name === "_==_" || name === "_!=_") return name === "_==_" ? equalityCost : smallest
  const known = (overload === undefined ? undefined : byOverload[overload]) ?? byFunction[name]
  if (known !== undefined) return known
  if (overload === undefined) return one
  if (ordered.test(overload)) return smallest
  if (sorts.test(overload)) return selfCompared(0)
  return sortsByKeys.test(overload) ? selfCompared(1) : one
}

const equalityCost: CallCost = (args, result) => (args[0] instanceof OpaqueValue ? 1 : smallest(args, result))

export const noCost = none
