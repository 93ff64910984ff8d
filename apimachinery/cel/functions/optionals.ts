// optional.of() and the functions of optionals. or() and orValue() evaluate their argument lazily: plan.ts.

import { dictionary } from "../../dictionary.ts"
import { printValue } from "../attributes.ts"
import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  Optional,
  ArrayList,
  itemsOf,
  Timestamp,
  UInt,
  type Value,
  type Implementation,
} from "../values.ts"

/** Go's zero time: the beginning of the year 1. */
const firstNanos = -62_135_596_800_000_000_000n

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true
  if (value instanceof UInt) return value.value === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof Timestamp) return value.nanos === firstNanos
  return (value instanceof ListValue || value instanceof MapValue) && value.size === 0
}

const unwrap: Implementation = ([list]) => {
  // Upstream decides by the first whether it is a list of optionals.
  if (!(list instanceof ListValue) || (list.size > 0 && !(list.at(0) instanceof Optional))) return undefined
  const values: Value[] = []
  for (const item of itemsOf(list)) {
    if (!(item instanceof Optional)) return new CelError(`value ${printValue(item)} is not optional`)
    if (item.value !== undefined) values.push(item.value)
  }
  return new ArrayList(values)
}

export const optionalFunctions: Readonly<Record<string, Implementation>> = dictionary({
  hasValue: ([optional]) => (optional instanceof Optional ? optional.value !== undefined : undefined),
  "optional.none": () => Optional.none,
  "optional.of": ([value]) => new Optional(value),
  "optional.ofNonZeroValue": ([value]) => (value === undefined || isZero(value) ? Optional.none : new Optional(value)),
  "optional.unwrap": unwrap,
  unwrapOpt: unwrap,
  value: ([optional]) => {
    if (!(optional instanceof Optional)) return undefined
    return optional.value === undefined ? new CelError("optional.none() dereference") : optional.value
  },
})
