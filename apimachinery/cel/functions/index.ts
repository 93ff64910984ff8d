// All functions by name. They dispatch on the run-time types of their arguments, as needed for dyn, and return undefined if there
// is no overload.

import { dictionary } from "../../dictionary.ts"
import { add, divide, modulo, multiply, negate, subtract } from "./arithmetic.ts"
import { authorizerFunctions } from "./authorizer.ts"
import { compareValues } from "../compare.ts"
import { conversions } from "./convert.ts"
import { listFunctions } from "./lists.ts"
import { formatFunctions } from "./named-formats.ts"
import { networkFunctions } from "./network.ts"
import { optionalFunctions } from "./optionals.ts"
import { quantityFunctions } from "./quantities.ts"
import { regexFunctions } from "./regexes.ts"
import { stringFunctions } from "./strings.ts"
import { timeFunctions } from "./time.ts"
import { urlFunctions } from "./urls.ts"
import {
  CelError,
  GrowingMap,
  isKey,
  keyOf,
  ListValue,
  MapValue,
  sizeOf,
  type Value,
  type Implementation,
  noOverload,
} from "../values.ts"
import { versionFunctions } from "./versions.ts"

function binary(make: (a: Value, b: Value) => Value): Implementation {
  return ([a, b]) => (a === undefined || b === undefined ? undefined : make(a, b))
}

function compared(name: string, make: (order: number) => boolean): Implementation {
  return binary((a, b) => {
    const order = compareValues(a, b)
    if (typeof order === "number") return make(order)
    if (order !== undefined) return order
    const isOrdered = compareValues(a, a) !== undefined
    return isOrdered ? noOverload : new CelError(`no such overload: ${name}`)
  })
}

function mapInsert([map, key, value]: readonly Value[]): Value | undefined {
  if (!(map instanceof MapValue) || key === undefined) return undefined
  const growing = map instanceof GrowingMap ? map : new GrowingMap(map)
  const entries: (readonly [Value, Value])[] =
    value === undefined && key instanceof MapValue
      ? key.keys().map((each) => [each, key.get(each) ?? null])
      : [[key, value ?? null]]
  for (const [each, item] of entries) {
    if (!isKey(each)) return new CelError(`unsupported key type: ${typeof each}`)
    if (!growing.insert(each, item)) return new CelError(`insert failed: key ${String(keyOf(each))} already exists`)
  }
  return growing
}

export const implementations: Readonly<Record<string, Implementation>> = dictionary({
  ...ofOneValue(),
  ...authorizerFunctions,
  ...formatFunctions,
  ...listFunctions,
  ...networkFunctions,
  ...optionalFunctions,
  ...quantityFunctions,
  ...regexFunctions,
  ...stringFunctions,
  ...timeFunctions,
  ...urlFunctions,
  ...versionFunctions,
  "!_": ([value]) => (typeof value === "boolean" ? !value : noOverload),
  "-_": ([value]) => (value === undefined ? undefined : negate(value)),
  "@not_strictly_false": ([value]) => value !== false,
  "_%_": binary(modulo),
  "_*_": binary(multiply),
  "_+_": binary(add),
  "_-_": binary(subtract),
  "_/_": binary(divide),
  "_<=_": compared("_<=_", (order) => order <= 0),
  "_<_": compared("_<_", (order) => order < 0),
  "_>=_": compared("_>=_", (order) => order >= 0),
  "_>_": compared("_>_", (order) => order > 0),
  "cel.@mapInsert": mapInsert,
  size: ([value]) => {
    const isSized =
      typeof value === "string" ||
      value instanceof Uint8Array ||
      value instanceof ListValue ||
      value instanceof MapValue
    return isSized ? BigInt(sizeOf(value)) : new CelError("no such overload: size")
  },
})

function ofOneValue(): Record<string, Implementation> {
  return Object.fromEntries(
    Object.entries(conversions).map(([name, convert]) => [
      name,
      ([value]) => (value === undefined ? undefined : convert(value)),
    ]),
  )
}

/** Conversions of constants are evaluated once, when the expression is compiled. */
export function isConversion(name: string): boolean {
  return Object.hasOwn(conversions, name)
}
