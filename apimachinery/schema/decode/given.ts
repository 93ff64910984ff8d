// Records what a request contained where decoding changes a value that Go keeps in memory, because some of its rules depend on that:
//
// - Empty lists and maps. Go does not print them, but distinguishes them from absent ones. The decoder drops them.
// - Times with fractions of a second. Go prints whole seconds but compares exactly, so such a time differs from the stored one. The
//   decoder prints them as Go does. In protobuf, times are whole seconds.
// - Times that were given as the one of Go that is not set. Go compares the zone as well, which only such a time has. The decoder
//   drops them.
// - Bytes that are none, and null in a map of bytes. Go distinguishes both from absent and from empty ones. The decoder drops the
//   first and makes the second empty.
// - Whole numbers of custom resources with a fraction or an exponent ("1.0"). Go keeps a double, which is not equal to the integer
//   that is read when it has been stored.
//
// The records are about the decoded objects themselves, not about their copies, and only as long as a field keeps the value that the
// decoder gave it: it may since have been defaulted, or set by the server.

const zeroTime = Symbol("zero time")
const emptyBytes = Symbol("empty bytes")
const nullBytes = Symbol("null as bytes")

/** By object just decoded: the fields that were given differently, and their values after decoding; undefined: dropped as empty. */
const givenFields = new WeakMap<object, Map<string, unknown>>()

/** More digits are cut off by Go, too. */
const fraction = /[.,]\d{0,8}[1-9]/

/** `holder`: the object being decoded. */
export function noteGivenEmpty(holder: object, key: string): void {
  note(holder, key, undefined)
}

/** `given`: the time in the request, `printed`: its canonical form. */
export function noteGivenTime(holder: object, key: string, given: string, printed: unknown): void {
  if (fraction.test(given)) note(holder, key, printed)
}

/** Below, all whole numbers are stored as integers. */
const firstBeyondInt64 = 2 ** 63

/** `holder`: an object or a list. */
export function noteGivenDouble(holder: object, key: string, literal: string): void {
  const value: unknown = (holder as Record<string, unknown>)[key]
  const isStoredAsInteger = typeof value === "number" && Number.isInteger(value) && Math.abs(value) < firstBeyondInt64
  if (isStoredAsInteger && /[.eE]/.test(literal)) note(holder, key, value)
}

export function noteGivenZeroTime(holder: object, key: string): void {
  note(holder, key, zeroTime)
}

export function noteGivenEmptyBytes(holder: object, key: string): void {
  note(holder, key, emptyBytes)
}

/** `map`: of bytes. */
export function noteGivenNullBytes(map: object, key: string): void {
  note(map, key, nullBytes)
}

function note(holder: object, key: string, decoded: unknown): void {
  const fields = givenFields.get(holder)
  if (fields === undefined) givenFields.set(holder, new Map([[key, decoded]]))
  else fields.set(key, decoded)
}

/** The field has been given anew. */
export function forgetGiven(holder: object, key: string): void {
  givenFields.get(holder)?.delete(key)
}

/** `copy`: has become a copy of `original`, without what is below it. */
export function keepGiven<T extends object>(copy: T, original: object | undefined): T {
  const fields = original && givenFields.get(original)
  if (fields === undefined) givenFields.delete(copy)
  else givenFields.set(copy, new Map(fields))
  return copy
}

/** Whether the field was present and dropped because it was empty. */
export function isGivenEmpty(holder: object, key: string): boolean {
  const fields = givenFields.get(holder)
  return fields !== undefined && fields.has(key) && fields.get(key) === undefined && !Object.hasOwn(holder, key)
}

/** The same for any field at any level. */
export function hasGivenEmpty(value: unknown): boolean {
  return isAnywhere(value, isGivenEmpty)
}

/** Whether the field is a time that was given with a fraction of a second, or a whole number given as a double. */
export function isGivenFraction(holder: object, key: string | number): boolean {
  const printed = givenFields.get(holder)?.get(String(key))
  return printed !== undefined && (holder as Record<string, unknown>)[key] === printed
}

/** Whether the field is a time that was given and dropped because it is not set. */
export function isGivenZeroTime(holder: object, key: string): boolean {
  return givenFields.get(holder)?.get(key) === zeroTime && ((holder as Record<string, unknown>)[key] ?? null) === null
}

/** Whether the field is bytes that were given and dropped because they are none. */
export function isGivenEmptyBytes(holder: object, key: string): boolean {
  return givenFields.get(holder)?.get(key) === emptyBytes && !Object.hasOwn(holder, key)
}

/** Whether the bytes of that key were null, and are empty. */
export function isGivenNullBytes(map: object, key: string): boolean {
  return givenFields.get(map)?.get(key) === nullBytes && (map as Record<string, unknown>)[key] === ""
}

/** Whether those of any key were. */
export function hasGivenNullBytes(map: object | undefined): boolean {
  return map !== undefined && isAny(map, isGivenNullBytes)
}

/** Whether any field of the object itself is such a time or number. */
export function hasGivenFraction(holder: object): boolean {
  return isAny(holder, isGivenFraction)
}

/** The same for any field at any level. */
export function hasGivenFractionWithin(value: unknown): boolean {
  return isAnywhere(value, isGivenFraction)
}

type Question = (holder: object, key: string) => boolean

function isAny(holder: object, question: Question): boolean {
  const fields = givenFields.get(holder)
  if (fields === undefined) return false
  for (const key of fields.keys()) if (question(holder, key)) return true
  return false
}

function isAnywhere(value: unknown, question: Question): boolean {
  if (typeof value !== "object" || value === null) return false
  if (isAny(value, question)) return true
  for (const each of Object.values(value)) if (isAnywhere(each, question)) return true
  return false
}
