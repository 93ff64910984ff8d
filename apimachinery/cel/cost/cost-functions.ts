// Worst-case costs of calls. Source: k8s.io/apiserver/pkg/cel/library/cost.go, cel-go/checker/cost.go, cel-go/ext/{lists,sets}.go.

import { ownValue } from "../../schema/json-object.ts"
import { dictionary } from "../../dictionary.ts"
import {
  addRanges,
  type CallEstimate,
  fixed,
  type Range,
  type SizedNode,
  timesFactor,
  timesRange,
  unknownSize,
} from "./cost-range.ts"
import { sameType, type Type } from "../types/types.ts"

const perCharacter = 0.1
const perPatternCharacter = 0.25
const checkCost = 350_000
const maxFormatPattern = 128
const maxFormatSize = 64
const one = fixed(1)

type SizeOf = (path: readonly string[], type: Type) => Range | undefined

/** A call for which the cost is estimated: `first`, `second`, … are its arguments after the target. */
interface Call {
  target: SizedNode | undefined
  args: readonly SizedNode[]
  overload: string
  sizeOf: SizeOf
}

type Estimator = (call: Call) => CallEstimate | undefined

/** Without the cost of the arguments. */
export function callEstimate(
  name: string,
  overload: string,
  target: SizedNode | undefined,
  args: readonly SizedNode[],
  sizeOf: SizeOf,
): CallEstimate {
  const call: Call = { target, args, overload, sizeOf }
  for (const [table, key] of [
    [extensions, overload],
    [byFunction, name],
    [byOverload, overload],
  ] as const) {
    const estimator = ownValue(table, key)
    const estimate = estimator?.(call)
    if (estimate !== undefined) return estimate
  }
  if (ordered.test(overload)) return { cost: comparison(args) }
  return { cost: one }
}

const ordered = /^(?:(?:less|greater)(?:_equals)?_(?:string|bytes)|equals|not_equals)$/

function size(node: SizedNode | undefined): Range {
  return node?.size ?? unknownSize
}

function characters(node: SizedNode | undefined, factor = 1): Range {
  return timesFactor(size(node), factor * perCharacter)
}

function comparison([a, b]: readonly SizedNode[]): Range {
  const max = Math.min(size(a).max, size(b).max)
  return timesFactor({ min: max > 0 ? 1 : 0, max }, perCharacter)
}

const constantly: Estimator = () => ({ cost: one })
const ofArgument: Estimator = ({ args: [text] }) => (text === undefined ? undefined : { cost: characters(text) })
const ofTarget: Estimator = ({ target }) => target && { cost: characters(target), size: size(target) }

function traversal({ target, sizeOf }: Call): CallEstimate | undefined {
  if (target === undefined) return undefined
  const [items] = target.type.parameters
  if (items === undefined) return { cost: characters(target) }
  const path = target.path.length > 0 ? [...target.path, "@items"] : []
  const isText = items.kind === "string" || items.kind === "bytes"
  const each = isText ? timesFactor(sizeOf(path, items) ?? unknownSize, perCharacter) : fixed(0)
  return { cost: timesRange(size(target), addRanges(one, each)) }
}

function pattern({ target, args: [source] }: Call): CallEstimate | undefined {
  if (target === undefined || source === undefined) return undefined
  const text = timesFactor(addRanges(size(target), one), perCharacter)
  return { cost: timesRange(text, timesFactor(size(source), perPatternCharacter)) }
}

function replace({ target, args: [sought, other] }: Call): CallEstimate | undefined {
  if (target === undefined || sought === undefined || other === undefined) return undefined
  const [text, from, to] = [size(target), size(sought), size(other)]
  const count: Range = { min: 0, max: 0 }
  const kept: Range = { min: 0, max: 0 }
  if (from.min === 0) [count.max, kept.max] = [text.max + 1, text.max]
  else if (to.max <= from.min) kept.max = text.max
  else count.max = Math.ceil(text.max / from.min)
  if (from.max === 0) [count.min, kept.min] = [text.min + 1, text.min]
  else if (from.max <= to.min) kept.min = text.min
  else count.min = Math.ceil(text.min / from.max)
  return { cost: characters(target, 2), size: addRanges(timesRange(count, to), kept) }
}

function split({ target, args: [, limit] }: Call): CallEstimate | undefined {
  if (target === undefined) return undefined
  const given = limit?.node.kind === "literal" ? limit.node.value : undefined
  const max = typeof given === "bigint" ? (given < 0n ? 2 ** 64 : Number(given)) : size(target).max
  return { cost: characters(target, 2), size: { min: 0, max } }
}

function join({ target, args: [separator], sizeOf }: Call): CallEstimate | undefined {
  if (target === undefined) return undefined
  const list = size(target)
  const [items] = target.type.parameters
  const path = target.path.length > 0 ? [...target.path, "@items"] : []
  let result = items === undefined ? fixed(0) : timesRange(list, sizeOf(path, items) ?? unknownSize)
  if (separator !== undefined) {
    const between = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
    result = addRanges(result, timesRange(size(separator), between))
  }
  return { cost: timesFactor(result, perCharacter), size: result }
}

/** Addresses have 4 to 16 bytes. */
const addressSize: Range = { min: 4, max: 16 }
const addressCost = timesFactor(addRanges(addressSize, addressSize), perCharacter)

const selectorCost: Estimator = ({ args: [selector] }) => {
  if (selector === undefined) return undefined
  const requirements = timesFactor(timesFactor(size(selector), 0.5), 50)
  return { cost: addRanges(fixed(10), characters(selector), requirements) }
}

/** Values of library types are compared at constant cost. */
function equality({ args: [a, b] }: Call): CallEstimate | undefined {
  if (a === undefined || b === undefined || !sameType(a.type, b.type)) return undefined
  const { kind, name } = a.type
  if (kind === "opaque") return name === "net.IP" || name === "net.CIDR" ? { cost: one } : undefined
  if (kind !== "struct" || !name.startsWith("kubernetes.")) return undefined
  if (name === "kubernetes.NamedFormat") return { cost: timesFactor({ min: 1, max: maxFormatSize }, perCharacter) }
  if (name === "kubernetes.URL") {
    return { cost: timesFactor({ min: 1, max: b.size === undefined ? 1 : b.size.max }, perCharacter) }
  }
  const isLibrary =
    name === "kubernetes.Quantity" || name === "kubernetes.Semver" || name.startsWith("kubernetes.authorization.")
  return isLibrary ? { cost: one } : undefined
}

const byFunction: Readonly<Record<string, Estimator>> = dictionary({
  "_==_": equality,
  check: () => ({ cost: fixed(checkCost) }),
  cidr: ofArgument,
  containsCIDR: ({ args: [other], overload }) => {
    const text = overload === "cidr_contains_cidr_string" ? timesFactor(size(other), perCharacter) : fixed(0)
    return { cost: addRanges(addressCost, timesFactor(addressSize, perCharacter), one, text) }
  },
  containsIP: ({ args: [other], overload }) => {
    const text = overload === "cidr_contains_ip_string" ? timesFactor(size(other), perCharacter) : fixed(0)
    return { cost: addRanges(addressCost, text) }
  },
  fieldSelector: selectorCost,
  find: (call) => {
    const estimate = pattern(call)
    return estimate && { ...estimate, size: { min: 0, max: size(call.target).max } }
  },
  findAll: (call) => {
    const estimate = pattern(call)
    return estimate && { ...estimate, size: { min: 0, max: size(call.target).max } }
  },
  indexOf: traversal,
  ip: (call) => (call.overload === "cidr_ip" ? { cost: one } : ofArgument(call)),
  "ip.isCanonical": ({ args: [text] }) => text && { cost: characters(text, 2) },
  isCIDR: ofArgument,
  isIP: ofArgument,
  isQuantity: ofArgument,
  isSemver: ofArgument,
  isSorted: traversal,
  join,
  "jsonpatch.escapeKey": ({ args: [text] }) => text && { cost: characters(text), size: size(text) },
  labelSelector: selectorCost,
  lastIndexOf: traversal,
  lowerAscii: ofTarget,
  max: traversal,
  min: traversal,
  quantity: ofArgument,
  replace,
  semver: ofArgument,
  split,
  substring: ofTarget,
  sum: traversal,
  trim: ofTarget,
  upperAscii: ofTarget,
  url: ({ args: [text] }) => text && { cost: characters(text), size: size(text) },
  validate: ({ args: [text] }) =>
    text && { cost: timesFactor(characters(text), maxFormatPattern * perPatternCharacter) },
  "format.named": constantly,
})

function sum({ args: [a, b] }: Call): Range {
  return addRanges(size(a), size(b))
}

const byOverload: Readonly<Record<string, Estimator>> = dictionary({
  add_bytes: (call) => ({ cost: timesFactor(sum(call), perCharacter), size: sum(call) }),
  add_list: (call) => ({ cost: one, size: sum(call) }),
  add_string: (call) => ({ cost: timesFactor(sum(call), perCharacter), size: sum(call) }),
  bytes_to_string: ({ args: [bytes] }) => ({
    cost: characters(bytes),
    size: { min: Math.trunc(size(bytes).min / 4), max: size(bytes).max },
  }),
  contains_string: ({ target, args: [other] }) => target && { cost: timesRange(characters(target), characters(other)) },
  ends_with_string: ofArgument,
  in_list: ({ args: [, list] }) => ({ cost: size(list) }),
  matches_string: pattern,
  starts_with_string: ofArgument,
  string_format: ({ target }) => target && { cost: characters(target) },
  string_to_bytes: ({ args: [text] }) => ({
    cost: characters(text),
    size: { min: size(text).min, max: Math.min(size(text).max * 4, 2 ** 64) },
  }),
  strings_quote: ({ args: [text] }) => ({
    cost: characters(text),
    // Upstream's number overflows where nothing limits the text: to nothing.
    size: { min: size(text).min + 2, max: (size(text).max * 2 + 2) % 2 ** 64 },
  }),
})

/** For functions that create a list. */
function allocating(factor: number, result: Range): CallEstimate {
  return { cost: addRanges(timesFactor(result, factor), one, fixed(10)), size: result }
}

function literalInt(node: SizedNode | undefined, otherwise: number): number {
  const value = node?.node.kind === "literal" ? node.node.value : undefined
  return typeof value === "bigint" ? Math.max(0, Number(value)) : otherwise
}

const sets =
  (factor: number): Estimator =>
  ({ args: [a, b] }) => ({
    cost: addRanges(timesFactor(timesRange(size(a), size(b)), factor), one),
  })

const extensions: Record<string, Estimator> = dictionary({
  list_distinct: ({ target }) => target && allocating(2, timesRange(size(target), size(target))),
  list_flatten: ({ target }) => target && allocating(1, size(target)),
  list_flatten_int: ({ target, args: [depth] }) => target && allocating(literalInt(depth, 2 ** 64), size(target)),
  list_reverse: ({ target }) => target && allocating(1, size(target)),
  list_sets_contains_list: sets(1),
  list_sets_equivalent_list: sets(2),
  list_sets_intersects_list: sets(1),
  list_slice: ({ target, args: [start, end] }) => {
    if (target === undefined) return undefined
    const length = literalInt(end, size(target).max) - literalInt(start, 0)
    // Upstream uses unsigned integers: negative values become huge.
    return allocating(1, fixed(length < 0 ? 2 ** 64 : length))
  },
  lists_range: ({ args: [count] }) => allocating(1, fixed(literalInt(count, 2 ** 64))),
})
for (const type of [
  "int",
  "uint",
  "double",
  "bool",
  "google.protobuf.Duration",
  "google.protobuf.Timestamp",
  "string",
  "bytes",
]) {
  const factor = type === "string" || type === "bytes" ? 2 + perCharacter : 2
  extensions[`list_${type}_sort`] = ({ target }): CallEstimate | undefined =>
    target && allocating(factor, timesRange(size(target), size(target)))
  extensions[`list_${type}_sortByAssociatedKeys`] = ({ args: [keys] }): CallEstimate | undefined =>
    allocating(factor, timesRange(size(keys), size(keys)))
}
