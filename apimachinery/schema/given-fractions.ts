// Records times with fractions of a second in a request. Go prints these times in whole seconds but compares them exactly, so such a
// time differs from the stored one. The decoder prints and records them (decode-value.ts). In protobuf, times are whole seconds.

/** By object just decoded: the fields with such times, and how they were printed. */
const givenFractions = new WeakMap<object, Map<string, unknown>>()

/** More digits are cut off by Go, too. */
const fraction = /[.,]\d{0,8}[1-9]/

/** `holder`: the object being decoded. `given`: the time in the request, `printed`: its canonical form. */
export function noteFraction(holder: object, key: string, given: string, printed: unknown): void {
  if (!fraction.test(given)) return
  const fields = givenFractions.get(holder)
  if (fields === undefined) givenFractions.set(holder, new Map([[key, printed]]))
  else fields.set(key, printed)
}

/** Only known for the decoded object itself, not for its copies. */
export function isGivenFraction(holder: object, key: string): boolean {
  const printed = givenFractions.get(holder)?.get(key)
  // A time that has since been set by the server has none.
  return printed !== undefined && (holder as Record<string, unknown>)[key] === printed
}

/** The same for any field of the object. */
export function hasGivenFraction(holder: object): boolean {
  for (const key of givenFractions.get(holder)?.keys() ?? []) if (isGivenFraction(holder, key)) return true
  return false
}

/** The same for any field at any level. */
export function hasFractionWithin(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  return hasGivenFraction(value) || Object.values(value).some(hasFractionWithin)
}
