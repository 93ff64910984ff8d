// Empty lists and maps that were given. They are no more kept than Go prints them, but in memory Go tells them from none, and some of
// its rules do. The decoder notes them (decode.ts).

/** Of objects just decoded: their fields that were given, and were dropped because they were empty. */
const givenEmpty = new WeakMap<object, Set<string>>()

/** `holder`: the object that is being decoded. */
export function noteGivenEmpty(holder: object, key: string): void {
  const keys = givenEmpty.get(holder)
  if (keys === undefined) givenEmpty.set(holder, new Set([key]))
  else keys.add(key)
}

/** Was it given, and dropped because it was empty? Only of the very object that was decoded, not of its copies. */
export function isGivenEmpty(holder: object, key: string): boolean {
  // What has a default by now is not empty any more.
  return givenEmpty.get(holder)?.has(key) === true && !Object.hasOwn(holder, key)
}

/** The same for any field at or below. */
export function hasGivenEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  for (const key of givenEmpty.get(value) ?? []) if (isGivenEmpty(value, key)) return true
  return Object.values(value).some(hasGivenEmpty)
}
