// Whether a value is one of those that a schema allows.

import type { Json } from "../object.ts"
import { isInteger } from "./exact-integers.ts"

/** By what they are as JSON: an enum may be long, and is asked for each item of a list. */
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

/** As upstream compares: null is like none of them, and a number is made an integer first where an integer is allowed. */
export function isOneOf(values: readonly Json[], value: Json): boolean {
  if (value === null) return false
  const { all, integers } = allowedBy(values)
  return all.has(JSON.stringify(value)) || (typeof value === "number" && integers.has(String(Math.trunc(value))))
}
