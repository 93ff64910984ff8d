// Records empty lists and maps in a request. They are dropped since Go does not print them either, but Go distinguishes them from
// absent ones in memory, and some of its rules depend on that. The decoder records them (decode.ts).

/** By object just decoded: the fields that were present, and were dropped because they were empty. */
const givenEmpty = new WeakMap<object, Set<string>>()

/** `holder`: the object being decoded. */
export function noteGivenEmpty(holder: object, key: string): void {
  const keys = givenEmpty.get(holder)
  if (keys === undefined) givenEmpty.set(holder, new Set([key]))
  else keys.add(key)
}

/**
 * Whether the field was present and dropped because it was empty. Only known for the decoded object itself, not for its copies.
 */
export function isGivenEmpty(holder: object, key: string): boolean {
  // A field that has since been defaulted is no longer empty.
  return givenEmpty.get(holder)?.has(key) === true && !Object.hasOwn(holder, key)
}

/** The same for any field at any level. */
export function hasGivenEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  for (const key of givenEmpty.get(value) ?? []) if (isGivenEmpty(value, key)) return true
  return Object.values(value).some(hasGivenEmpty)
}
