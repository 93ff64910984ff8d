// Paths into values: a.b[c].?d. Values on the path may be maps, lists or optionals. Source: cel-go/interpreter/attributes.go.

import { printDouble } from "./functions/convert.ts"
import { Optional, CelError, ListValue, MapValue, typeNameOf, UInt, type Value } from "./values.ts"

/** Follows one step of a path. Errors are returned as results. */
export function qualify(value: Value, key: Value): Value {
  if (value instanceof MapValue) {
    const found = value.get(key)
    return found === undefined ? missing(key) : found
  }
  if (value instanceof ListValue) return element(value, key)
  if (value instanceof CelError) return value
  return missing(key)
}

/** Undefined if there is no value. */
export function qualifyIfPresent(value: Value, key: Value): Value | undefined {
  if (value instanceof CelError) return value
  if (value instanceof MapValue) return value.get(key)
  if (!(value instanceof ListValue)) return undefined
  const index = indexOf(key)
  if (index instanceof CelError) return index
  return index >= 0 && index < value.size ? value.at(index) : undefined
}

function missing(key: Value): CelError {
  return new CelError(`no such key: ${printValue(key)}`)
}

function element(list: ListValue, key: Value): Value {
  const index = indexOf(key)
  if (index instanceof CelError) return index
  return index >= 0 && index < list.size ? list.at(index) : new CelError(`index out of bounds: ${printValue(key)}`)
}

function indexOf(key: Value): number | CelError {
  if (typeof key === "bigint") return Number(key)
  if (key instanceof UInt) return Number(key.value)
  if (typeof key === "number") {
    return Number.isInteger(key) ? key : new CelError(`unsupported index value ${key} in list`)
  }
  return key instanceof CelError ? key : new CelError(`unsupported index type '${typeNameOf(key)}' in list`)
}

/** In errors. */
export function printValue(key: Value): string {
  if (typeof key === "number") return printDouble(key)
  return key instanceof UInt ? String(key.value) : typeof key === "object" ? typeNameOf(key) : String(key)
}

/** The value in an optional; undefined if it is empty. */
export function heldBy(value: Value): { value: Value | undefined; optional: boolean } {
  return value instanceof Optional ? { value: value.value, optional: true } : { value, optional: false }
}
