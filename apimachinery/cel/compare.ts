// Equality and order of values. Numbers of different types can be compared. Source: cel-spec/doc/langdef.md#equality.

import {
  CelError,
  Duration,
  ListValue,
  MapValue,
  noOverload,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  UInt,
  type Value,
} from "./values.ts"
import { step } from "./work.ts"

export const areEqual = (a: Value, b: Value): boolean => equal(a, b) === true

/**
 * An error: such values cannot be compared. That is so if `a` is of one of kube-apiserver's own types and `b` of another one, or is an
 * error itself.
 */
export function equal(a: Value, b: Value): boolean | CelError {
  step()
  // A list of type set may not be equal to itself (typed-lists.ts).
  if (a === b && (typeof a !== "object" || a === null)) return typeof a !== "number" || !Number.isNaN(a)
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0
  if (b === null) return false
  if (a instanceof CelError) return a
  if (a instanceof OpaqueValue) return isSameType(a, b) ? a.equals(b) : noOverload
  if (typeof a === "object" && typeof b === "object" && a !== null) return areObjectsEqual(a, b)
  return false
}

const isSameType = (a: OpaqueValue, b: Value): b is OpaqueValue => b instanceof OpaqueValue && a.typeName === b.typeName

function areObjectsEqual(a: Exclude<Value, null>, b: Exclude<Value, null>): boolean | CelError {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof ListValue) return b instanceof ListValue && (a.equals?.(b) ?? areListsEqual(a, b))
  if (a instanceof MapValue) return b instanceof MapValue && (a.equals === undefined ? areMapsEqual(a, b) : a.equals(b))
  if (!(a instanceof Optional) || !(b instanceof Optional)) return false
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equal(a.value, b.value)
}

/** As upstream, two lists or maps differ only in what can be compared. */
function areListsEqual(a: ListValue, b: ListValue): boolean {
  if (a.size !== b.size) return false
  for (let index = 0; index < a.size; index++) if (equal(a.at(index), b.at(index)) === false) return false
  return true
}

function areMapsEqual(a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  return a.keys().every((key) => {
    const [mine, other] = [a.get(key), b.get(key)]
    return mine !== undefined && other !== undefined && equal(mine, other) !== false
  })
}

type Numeric = bigint | number | UInt

function isNumeric(value: Value): value is Numeric {
  return typeof value === "bigint" || typeof value === "number" || value instanceof UInt
}

/** Integers are compared with doubles as doubles. Undefined if one is NaN. */
function compareNumbers(a: Numeric, b: Numeric): number | undefined {
  const [x, y] = [a instanceof UInt ? a.value : a, b instanceof UInt ? b.value : b]
  const [left, right] = typeof x === typeof y ? [x, y] : [Number(x), Number(y)]
  if (left < right) return -1
  if (left > right) return 1
  return left === right ? 0 : undefined
}

/** Undefined if the values have no order. */
export function compareValues(a: Value, b: Value): number | CelError | undefined {
  if (isNumeric(a)) {
    if (!isNumeric(b)) return undefined
    return compareNumbers(a, b) ?? new CelError("NaN values cannot be ordered")
  }
  if (typeof a === "string") return typeof b === "string" ? compareStrings(a, b) : undefined
  if (typeof a === "boolean") return typeof b === "boolean" ? Number(a) - Number(b) : undefined
  if (a instanceof Timestamp) return b instanceof Timestamp ? sign(a.nanos - b.nanos) : undefined
  if (a instanceof Duration) return b instanceof Duration ? sign(a.nanos - b.nanos) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : undefined
  return undefined
}

/** Whether there are values that it has an order with. */
export const isComparable = (value: Value): boolean => compareValues(value, value) !== undefined

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** By code points, like UTF-8; UTF-16 sorts characters beyond the first plane before U+E000. */
function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (left === right) continue
    const surrogates = Number(isSurrogate(left)) - Number(isSurrogate(right))
    return surrogates !== 0 ? surrogates : left - right
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}
