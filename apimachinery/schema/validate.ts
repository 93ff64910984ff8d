// Checks a custom resource against its schema; the errors have upstream's words. In the messages the path stands again
// ("spec.replicas in body must be …"), relative to the value that was asked about.

import { FieldPath, invalidValue, notSupported, required, tooLong, tooMany, typeInvalid } from "../field-errors.ts"
import type { FieldError } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { isInteger } from "./exact-integers.ts"
import { isObject, type JsonObject } from "./json-object.ts"
import { hasFormat } from "./formats.ts"
import { compilePattern } from "./patterns.ts"
import { type Schema, schemaOfEntry, schemaOfItems, type SchemaRules } from "./schema.ts"
import { validateLists } from "./validate-lists.ts"

/** A broken object of many items must not become an endless answer. */
const maxErrors = 100
/** Upstream gives these errors no field. */
const nowhere = FieldPath.root("<nil>")

/** After decoding and defaulting. */
export function validateRules(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const errors = [...validateValue(schema, value, path, path.toString()), ...validateLists(schema, value, path)]
  return errors.slice(0, maxErrors)
}

interface At {
  path: FieldPath
  /** The path as messages show it. */
  shown: string
}

/** Without the uniqueness of sets and maps. `shown` is the path that messages name. */
export function validateValue(schema: Schema, value: Json, path: FieldPath, shown: string): FieldError[] {
  const errors: FieldError[] = []
  check(schema, value, { path, shown }, errors)
  return errors
}

function child({ path, shown }: At, key: string): At {
  return { path: path.child(key), shown: shown === "" ? key : `${shown}.${key}` }
}

const typeNames: Readonly<Record<Schema["type"], string>> = {
  object: "object",
  map: "object",
  list: "array",
  string: "string",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  intOrString: "integer,string",
  any: "",
}

function typeOf(value: Json): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (isInteger(value)) return "integer"
  return typeof value
}

function hasType(schema: Schema, value: Json): boolean {
  switch (schema.type) {
    case "object":
    case "map":
      return isObject(value)
    case "list":
      return Array.isArray(value)
    case "integer":
      return isInteger(value) || (schema.format === "int64" && Number.isInteger(value)) // its format says more
    case "number":
      return typeof value === "number" || typeof value === "bigint"
    case "intOrString":
      return typeof value === "string" || isInteger(value)
    case "any":
      return schema.unknownType === undefined
    default:
      return typeof value === schema.type
  }
}

function check(schema: Schema, value: Json, at: At, errors: FieldError[]): void {
  if (errors.length >= maxErrors) return
  const mayBeNull = schema.nullable === true || schema.type === "any"
  if (!(value === null && mayBeNull) && !hasType(schema, value)) {
    const found = typeOf(value)
    const detail = `${at.shown} in body must be of type ${schema.unknownType ?? typeNames[schema.type]}: "${found}"`
    errors.push(typeInvalid(at.path, found, detail))
  }
  const { rules } = schema
  if (rules !== undefined && value !== null) checkAlternatives(rules, value, at, errors)
  if (typeof value === "string") checkString(schema, value, at, errors)
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(schema, value, at, errors)
  else if (Array.isArray(value)) checkItems(schema, value, at, errors)
  else if (isObject(value)) checkFields(schema, value, at, errors)
  if (rules?.enum !== undefined) checkEnum(rules.enum, value, at, errors)
}

function checkString(schema: Schema, value: string, at: At, errors: FieldError[]): void {
  const { path, shown } = at
  const fault = schema.rules === undefined ? undefined : textFault(schema.rules, value, at)
  if (fault !== undefined) errors.push(fault)
  if (schema.format !== undefined && schema.type === "string" && !hasFormat(schema.format, value)) {
    const detail = `${shown} in body must be of type ${schema.format}: ${JSON.stringify(value)}`
    errors.push(typeInvalid(path, value, detail))
  }
}

/** The first that is found: upstream looks no further. */
function textFault(
  { maxLength, minLength, pattern }: SchemaRules,
  value: string,
  { path, shown }: At,
): FieldError | undefined {
  if (maxLength !== undefined && Array.from(value).length > maxLength) return tooLong(path, value, maxLength)
  if (minLength !== undefined && Array.from(value).length < minLength) {
    return invalidValue(path, value, `${shown} in body should be at least ${minLength} chars long`)
  }
  const fault = pattern === undefined ? undefined : patternFault(pattern, value)
  return fault === undefined ? undefined : invalidValue(path, value, `${shown} in body ${fault}`)
}

function patternFault(pattern: string, value: string): string | undefined {
  try {
    return compilePattern(pattern).matches(value) ? undefined : `should match '${pattern}'`
  } catch (error) {
    // Not all regular expressions can be matched against any text in a bounded time.
    if (error instanceof RangeError) return `is too long to be matched with '${pattern}'`
    throw error
  }
}

function checkNumber(schema: Schema, value: number | bigint, { path, shown }: At, errors: FieldError[]): void {
  const { rules } = schema
  // Of an integer upstream makes the factor one, too.
  const factor = rules?.multipleOf !== undefined && isInteger(value) ? Math.trunc(rules.multipleOf) : rules?.multipleOf
  if (factor !== undefined && factor <= 0) {
    errors.push(invalidValue(path, factor, `factor MultipleOf declared for ${shown} must be positive: ${factor}`))
  } else if (rules?.multipleOf !== undefined && !isMultiple(value, rules.multipleOf)) {
    errors.push(invalidValue(path, value, `${shown} in body should be a multiple of ${rules.multipleOf}`))
  }
  if (rules?.maximum !== undefined) {
    const over = rules.exclusiveMaximum === true ? value >= rules.maximum : value > rules.maximum
    const words = rules.exclusiveMaximum === true ? "less than" : "less than or equal to"
    if (over) errors.push(invalidValue(path, value, `${shown} in body should be ${words} ${rules.maximum}`))
  }
  if (rules?.minimum !== undefined) {
    const under = rules.exclusiveMinimum === true ? value <= rules.minimum : value < rules.minimum
    const words = rules.exclusiveMinimum === true ? "greater than" : "greater than or equal to"
    if (under) errors.push(invalidValue(path, value, `${shown} in body should be ${words} ${rules.minimum}`))
  }
  if (schema.type === "integer" && schema.format === "int64" && Number.isInteger(value) && !isInteger(value)) {
    errors.push(typeInvalid(path, "float64", `${shown} in body must be of type int64: "float64"`))
  }
  const fault = numberFault(schema, value)
  if (fault !== undefined) errors.push(invalidValue(nowhere, "", `Checked value must be of type ${fault} in ${shown}`))
}

function isMultiple(value: number | bigint, of: number): boolean {
  if (typeof value === "bigint")
    return Number.isSafeInteger(of) ? value % BigInt(of) === 0n : isMultiple(Number(value), of)
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
}

/** Formats that say how wide a number may be. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
  float: [-3.4028234663852886e38, 3.4028234663852886e38],
}

function numberFault(schema: Schema, value: number | bigint): string | undefined {
  if (schema.type !== "integer" && schema.type !== "number") return undefined
  const { format } = schema
  const range = format !== undefined && Object.hasOwn(ranges, format) ? ranges[format] : undefined
  if (range !== undefined && (value < range[0] || value > range[1])) {
    return `${schema.type} with format ${format ?? ""}`
  }
  if (schema.type === "integer" && !isInteger(value)) {
    return format === undefined ? "integer (default format)" : `integer with format ${format}`
  }
  return undefined
}

function checkItems(schema: Schema, value: readonly Json[], { path, shown }: At, errors: FieldError[]): void {
  const { rules } = schema
  const items = schemaOfItems(schema)
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      // The path of a default begins with its message's, whatever that is.
      const itemPath = shown === "" ? path.child(`[${index}]`) : path.index(index)
      check(items, item, { path: itemPath, shown: `${shown}[${index}]` }, errors)
    }
  }
  if (rules?.minItems !== undefined && value.length < rules.minItems) {
    errors.push(invalidValue(path, value.length, `${shown} in body should have at least ${rules.minItems} items`))
  }
  if (rules?.maxItems !== undefined && value.length > rules.maxItems) {
    errors.push(tooMany(path, value.length, rules.maxItems))
  }
}

function checkFields(schema: Schema, value: JsonObject, at: At, errors: FieldError[]): void {
  const { rules } = schema
  const count = Object.keys(value).length
  if (rules?.maxProperties !== undefined && count > rules.maxProperties) {
    errors.push(tooMany(at.path, count, rules.maxProperties))
  }
  if (rules?.minProperties !== undefined && count < rules.minProperties) {
    const detail = `${at.shown} in body should have at least ${rules.minProperties} properties`
    errors.push(invalidValue(at.path, count, detail))
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required(at.path.child(name)))
  }
  if (schema.embedded === true) {
    for (const name of ["apiVersion", "kind"]) {
      if (!Object.hasOwn(value, name) || value[name] === "") errors.push(required(at.path.child(name)))
    }
  }
  for (const [name, given] of Object.entries(value)) {
    const inner = schemaOfEntry(schema, name)
    if (inner === "none") {
      errors.push(invalidValue(at.path, name, `${at.shown}.${name} in body is a forbidden property`))
    } else if (inner !== undefined) check(inner, given, child(at, name), errors)
  }
}

function checkEnum(allowed: readonly Json[], value: Json, { path }: At, errors: FieldError[]): void {
  if (allowed.some((one) => isSame(one, value))) return
  const shown = allowed.map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
  errors.push(notSupported(path, value, shown))
}

/** As upstream compares: null is like none of them, and a number is made an integer first where an integer is allowed. */
function isSame(allowed: Json, value: Json): boolean {
  if (value === null) return false
  const given = typeof value === "number" && isInteger(allowed) ? Math.trunc(value) : value
  return JSON.stringify(allowed) === JSON.stringify(given)
}

function faultsOf(schema: Schema, value: Json, at: At): FieldError[] {
  const errors: FieldError[] = []
  check(schema, value, at, errors)
  return errors
}

function checkAlternatives(rules: SchemaRules, value: Json, at: At, errors: FieldError[]): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = rules
  const fail = (detail: string): void => {
    errors.push(invalidValue(nowhere, "", `"${at.shown}" must ${detail}`))
  }
  if (anyOf.length > 0) {
    const faults = anyOf.map((schema) => faultsOf(schema, value, at))
    if (faults.every((list) => list.length > 0)) {
      fail("validate at least one schema (anyOf)")
      errors.push(...(faults[0] ?? []))
    }
  }
  if (oneOf.length > 0) {
    const faults = oneOf.map((schema) => faultsOf(schema, value, at))
    const valid = faults.filter((list) => list.length === 0).length
    if (valid === 0) {
      fail("validate one and only one schema (oneOf). Found none valid")
      errors.push(...(faults[0] ?? []))
    } else if (valid > 1) fail(`validate one and only one schema (oneOf). Found ${valid} valid alternatives`)
  }
  if (allOf.length > 0) {
    const faults = allOf.map((schema) => faultsOf(schema, value, at))
    errors.push(...faults.flat())
    const valid = faults.filter((list) => list.length === 0).length
    if (valid < allOf.length) fail(`validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`)
  }
  if (not !== undefined && faultsOf(not, value, at).length === 0) fail("not validate the schema (not)")
}
