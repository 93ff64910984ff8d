// + - * / % and negation, with overflow as an error. Source: cel-go/common/types.

import { int64, uint64 } from "../../schema/exact-integers.ts"
import {
  Duration,
  CelError,
  GrowingList,
  itemsOf,
  ListValue,
  Timestamp,
  UInt,
  type Value,
  noOverload,
} from "../values.ts"

/** Years 1 to 9999. */
const minTimestamp = -62_135_596_800_000_000_000n
const maxTimestamp = 253_402_300_799_999_999_999n

export function int(value: bigint): Value {
  return value > int64.max || value < int64.min ? new CelError("integer overflow") : value
}

export function uint(value: bigint): Value {
  return value > uint64.max || value < 0n ? new CelError("unsigned integer overflow") : new UInt(value)
}

function duration(nanos: bigint): Value {
  return nanos > int64.max || nanos < int64.min ? new CelError("duration overflow") : new Duration(nanos)
}

/** Overflow is checked for the underlying integer. */
function interval(nanos: bigint): Value {
  return nanos > int64.max || nanos < int64.min ? new CelError("integer overflow") : new Duration(nanos)
}

export function timestamp(nanos: bigint, offset = 0): Value {
  return nanos > maxTimestamp || nanos < minTimestamp
    ? new CelError("timestamp overflow")
    : new Timestamp(nanos, offset)
}

export function add(a: Value, b: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a + b)
  if (typeof a === "string" && typeof b === "string") return a + b
  if (typeof a === "number" && typeof b === "number") return a + b
  if (a instanceof UInt && b instanceof UInt) return uint(a.value + b.value)
  if (a instanceof ListValue && b instanceof ListValue) return a.concat?.(b) ?? concat(a, b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b])
  if (a instanceof Duration && b instanceof Duration) return interval(a.nanos + b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.nanos + b.nanos, a.offset)
  if (a instanceof Duration && b instanceof Timestamp) return timestamp(a.nanos + b.nanos, b.offset)
  return noOverload
}

function concat(a: ListValue, b: ListValue): ListValue {
  if (a instanceof GrowingList) {
    const grown = a.grow(b)
    if (grown !== undefined) return grown
  }
  return new GrowingList([...itemsOf(a), ...itemsOf(b)])
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a - b)
  if (typeof a === "number" && typeof b === "number") return a - b
  if (a instanceof UInt && b instanceof UInt) return uint(a.value - b.value)
  if (a instanceof Duration && b instanceof Duration) return interval(a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return timestamp(a.nanos - b.nanos, a.offset)
  if (a instanceof Timestamp && b instanceof Timestamp) return interval(a.nanos - b.nanos)
  return noOverload
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return int(a * b)
  if (typeof a === "number" && typeof b === "number") return a * b
  if (a instanceof UInt && b instanceof UInt) return uint(a.value * b.value)
  return noOverload
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === "number" && typeof b === "number") return a / b
  const isInt = typeof a === "bigint" && typeof b === "bigint"
  if (isInt) return b === 0n ? new CelError("division by zero") : int(a / b)
  if (a instanceof UInt && b instanceof UInt) {
    return b.value === 0n ? new CelError("division by zero") : new UInt(a.value / b.value)
  }
  return noOverload
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") {
    if (b === 0n) return new CelError("modulus by zero")
    return b === -1n && a === int64.min ? new CelError("integer overflow") : a % b
  }
  if (a instanceof UInt && b instanceof UInt) {
    return b.value === 0n ? new CelError("modulus by zero") : new UInt(a.value % b.value)
  }
  return noOverload
}

export function negate(a: Value): Value {
  if (typeof a === "bigint") return int(-a)
  if (typeof a === "number") return -a
  if (a instanceof Duration) return duration(-a.nanos)
  return noOverload
}
