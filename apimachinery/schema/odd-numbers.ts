// How numbers of a parsed value were written, where that is known to matter: beside the value, and gone with it.

import type { Json } from "../object.ts"

/** Literals of numbers that are not exact as doubles, by parsed root; gone with it. decodeObject asks for them. */
const oddNumbers = new WeakMap<object, ReadonlyMap<string, string>>()

export function oddNumbersOf(value: Json): ReadonlyMap<string, string> | undefined {
  return typeof value === "object" && value !== null ? oddNumbers.get(value) : undefined
}

/** `found`: path (see pathKey) → literal. */
export function noteOddNumbers(value: Json, found: ReadonlyMap<string, string>): void {
  if (typeof value !== "object" || value === null) return
  if (found.size > 0) oddNumbers.set(value, found)
  else oddNumbers.delete(value)
}
