// Checks a value against the enum of a schema.

import type { Json } from "../object.ts"
import { isInteger } from "./exact-integers.ts"

/** By JSON text: an enum may be long, and is checked for each item of a list. */
interface Allowed {
  all: ReadonlySet<string>
  integers: ReadonlySet<string>
}

const enums = new WeakMap<readonly Json[], Allowed>()

function allowedBy(values: readonly Json[]): Allowed {
  let allowed = enums.get(values)
  if (allowed === undefined) {
    const textsOf = (some: readonly Json[]): Set<string> => new Set(some.map((one) => JSON.stringify(one)))
    allowed = { all: textsOf(values), integers: textsOf(values.filter(isInteger)) }
    enums.set(values, allowed)
  }
  return allowed
}

/**
 * Compares like upstream: null equals none of them; a number is first converted to an integer if an integer is allowed, and an integer
 * to the character that it numbers if a text is allowed.
 */
export function isOneOf(values: readonly Json[], value: Json): boolean {
  if (value === null) return false
  const { all, integers } = allowedBy(values)
  if (all.has(JSON.stringify(value))) return true
  if (isInteger(value) && all.has(JSON.stringify(characterOf(Number(value))))) return true
  return typeof value === "number" && integers.has(String(Math.trunc(value)))
}

function characterOf(code: number): string {
  const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : "\ufffd"
}
