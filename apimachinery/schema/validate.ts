// Validates a custom resource against its schema, with upstream's messages. Messages repeat the path ("spec.replicas in body must
// be …"), relative to the validated value.

import { dictionary } from "../dictionary.ts"
import { FieldPath, invalidValue, notSupported, required, tooMany, typeInvalid } from "../field-errors.ts"
import type { FieldError } from "../field-errors.ts"
import { goJson, shownDouble } from "../go/print.ts"
import { goQuote } from "../go/quote.ts"
import type { Json } from "../object.ts"
import { isGivenFraction } from "./decode/given.ts"
import { isInteger } from "./exact-integers.ts"
import { isObject, type JsonObject, sortedKeys } from "./json-object.ts"
import { hasFormat } from "./formats.ts"
import { type Schema, schemaOfEntry, schemaOfItems, type SchemaRules } from "./schema.ts"
import { isOneOf } from "./enums.ts"
import { validateEmbedded } from "./validate-embedded.ts"
import { validateLists } from "./validate-lists.ts"
import { isNearInteger, numberFaults } from "./validate-numbers.ts"
import { textFault } from "./validate-texts.ts"
import { lookEvery, Pace } from "./validation-pace.ts"

/** Limits the time and memory that an invalid object with many items takes. */
const maxErrors = 10_000
/** Upstream reports these errors without a field, except when it validates a default. */
const nowhere = FieldPath.root("<nil>")

/** To be called after decoding and defaulting. */
export function validateRules(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  return [
    ...validateFields(schema, value, path).errors,
    ...validateEmbedded(schema, value, path),
    ...validateLists(schema, value, path),
  ].slice(0, maxErrors)
}

export interface Faults {
  /** Each step of their paths is given alone, so that their places can be compared: names that are given together are one. */
  errors: readonly FieldError[]
  /**
   * Errors of alternatives (anyOf and the like) belong to the value that has the alternatives: its path, even if they are found
   * below it. Those of numbers that do not have their type belong to the number, whose path they lack.
   */
  owners: ReadonlyMap<FieldError, FieldPath>
}

/** Validates everything except the uniqueness of list items. */
export function validateFields(schema: Schema, value: Json, path: FieldPath): Faults {
  const found = nothingFound(nowhere)
  check(schema, value, { path, shown: path.toString() }, found)
  return found
}

/** Validates a part separately, as upstream does with a status: paths in its messages begin there. */
export function validatePart(schema: Schema, value: Json, path: FieldPath): Faults {
  const found = nothingFound(path)
  check(schema, value, { path, shown: "" }, found)
  return found
}

/**
 * Validates a default, for which the schema is interpreted literally: including formats without meaning, and with a type that
 * int-or-string does not have.
 */
export function validateDefault(schema: Schema, value: Json, path: FieldPath): FieldError[] {
  const found = nothingFound(path, true)
  check(schema, value, { path, shown: "" }, found)
  return found.errors
}

interface Found extends Faults {
  errors: FieldError[]
  owners: Map<FieldError, FieldPath>
  /** Number of checks: of several alternatives that do not match, the errors of the one with the most checks are reported. */
  checks: number
  nowhere: FieldPath
  ofDefault: boolean
  /** Shared by all checks of one value. */
  readonly pace: Pace
}

function nothingFound(nowhere: FieldPath, ofDefault = false): Found {
  return { errors: [], owners: new Map(), checks: 0, nowhere, ofDefault, pace: new Pace() }
}

interface At {
  path: FieldPath
  /** The path as shown in messages. */
  shown: string
  /** A whole number that was given as a double. */
  isDouble?: boolean
}

function child({ path, shown }: At, key: string, isEntry: boolean, isDouble: boolean): At {
  return { path: path.child(key), shown: shown === "" && !isEntry ? key : `${shown}.${key}`, isDouble }
}

const typeNames: Readonly<Record<Schema["type"], readonly string[]>> = {
  object: ["object"],
  map: ["object"],
  list: ["array"],
  string: ["string"],
  integer: ["integer"],
  number: ["number"],
  boolean: ["boolean"],
  intOrString: ["integer", "string"],
  any: [],
}

function typeOf(value: Json, isDouble: boolean): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (isInteger(value) && !isDouble) return "integer"
  return typeof value
}

/** Upstream's names of numbers in memory. */
const ownFormats: Readonly<Record<string, string>> = dictionary({ integer: "int64", number: "float64" })

function formatOf({ format, formatMeansNothing }: Schema, { ofDefault }: Found): string | undefined {
  return formatMeansNothing === true && !ofDefault ? undefined : format
}

function check(schema: Schema, value: Json, at: At, found: Found): void {
  const { errors } = found
  if (errors.length >= maxErrors) return
  found.pace.spend(1)
  found.checks += checksOf(schema, value)
  checkType(schema, value, at, found)
  const { rules } = schema
  if (rules !== undefined && value !== null) checkAlternatives(rules, value, at, found)
  if (typeof value === "string") checkString(schema, value, at, found)
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(schema, value, at, found)
  else if (Array.isArray(value)) checkItems(schema, value, at, found)
  else if (isObject(value)) checkFields(schema, value, at, found)
  if (rules?.enum !== undefined) checkEnum(rules.enum, value, at, errors)
}

/** Source: kube-openapi's SchemaValidator.Validate: the checks that apply to the value, and those that always apply. */
function checksOf({ type, format }: Schema, value: Json): number {
  if (value === null) return 0
  return (type === "any" && format === undefined ? 3 : 4) + (typeof value === "boolean" ? 0 : 1)
}

/** The format is checked first, and then replaces the type check for strings and lists. */
function checkType(schema: Schema, value: Json, { path, shown, isDouble = false }: At, found: Found): void {
  const given = typeOf(value, isDouble)
  const types = typesOf(schema, found)
  const isNearly = typeof value === "number" && types.includes("integer") && isNearInteger(value)
  const fits = types.includes(given) || isNearly || (given === "integer" && types.includes("number"))
  if (fits || (value === null && (schema.nullable === true || types.length === 0))) return
  const format = formatOf(schema, found)
  if (types.length === 0 && format === undefined) return
  const refuse = (expected: string, was: string): void => {
    found.errors.push(typeInvalid(path, was, `${shown} in body must be of type ${expected}: "${was}"`))
  }
  const isShort = given === "string" || given === "array"
  const own = ownFormats[given] ?? ""
  if (format !== undefined && value !== null && !isShort && own !== format) refuse(format, own)
  else if (format === undefined || value === null || !isShort || types.some(isNumeric)) refuse(types.join(","), given)
}

const isNumeric = (type: string): boolean => type === "number" || type === "integer"

function typesOf({ type, unknownType }: Schema, { ofDefault }: Found): readonly string[] {
  if (unknownType !== undefined) return [unknownType]
  return ofDefault && type === "intOrString" ? [] : typeNames[type]
}

function checkString(schema: Schema, value: string, at: At, found: Found): void {
  const { path, shown } = at
  const { errors } = found
  const format = formatOf(schema, found)
  // One match may take as long as many values.
  if (schema.rules?.pattern !== undefined) found.pace.spend(lookEvery)
  const fault = schema.rules === undefined ? undefined : textFault(schema.rules, value, at)
  if (fault !== undefined) errors.push(fault)
  if (format !== undefined && !hasFormat(format, value)) {
    const detail = `${shown} in body must be of type ${format}: ${goQuote(value)}`
    errors.push(typeInvalid(path, value, detail))
  }
}

function checkNumber(schema: Schema, value: number | bigint, { path, shown, isDouble }: At, found: Found): void {
  const { errors, nowhere, owners } = found
  for (const fault of numberFaults(schema, value, isDouble)) {
    if ("type" in fault) {
      const error = invalidValue(nowhere, "", `${fault.what} value must be of type ${fault.type} in ${shown}`)
      owners.set(error, path)
      errors.push(error)
    } else if (fault.factor !== undefined) {
      errors.push(
        invalidValue(path, fault.value, `factor MultipleOf declared for ${shown} must be positive: ${fault.factor}`),
      )
    } else errors.push(invalidValue(path, fault.value, `${shown} in body ${fault.words}`))
  }
}

function checkItems(schema: Schema, value: readonly Json[], { path, shown }: At, found: Found): void {
  const { errors } = found
  const { rules } = schema
  const items = schemaOfItems(schema)
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      // Within a default, the path begins like that of its message.
      const itemPath = shown === "" ? path.child(`[${index}]`) : path.index(index)
      const isDouble = isGivenFraction(value, index)
      check(items, item, { path: itemPath, shown: `${shown}[${index}]`, isDouble }, found)
    }
  }
  if (rules?.minItems !== undefined && value.length < rules.minItems) {
    errors.push(invalidValue(path, value.length, `${shown} in body should have at least ${rules.minItems} items`))
  }
  if (rules?.maxItems !== undefined && value.length > rules.maxItems) {
    errors.push(tooMany(path, value.length, rules.maxItems))
  }
}

function checkFields(schema: Schema, value: JsonObject, at: At, found: Found): void {
  const { errors } = found
  const { rules } = schema
  const count = Object.keys(value).length
  if (rules?.maxProperties !== undefined && count > rules.maxProperties) {
    errors.push(tooMany(at.path, count, rules.maxProperties))
  }
  if (rules?.minProperties !== undefined && count < rules.minProperties) {
    const detail = `${at.shown} in body should have at least ${rules.minProperties} properties`
    errors.push(invalidValue(at.path, count, detail))
  }
  for (const [name, given] of Object.entries(value)) {
    const inner = schemaOfEntry(schema, name)
    if (inner === "none") {
      errors.push(invalidValue(at.path, name, `${at.shown}.${name} in body is a forbidden property`))
    } else if (inner !== undefined) {
      const isEntry = schema.fields?.[name] === undefined
      check(inner, given, child(at, name, isEntry, isGivenFraction(value, name)), found)
    }
  }
  for (const name of schema.required ?? []) {
    const isRoot = name === "" && at.shown === ""
    if (!Object.hasOwn(value, name)) errors.push(required(isRoot ? at.path : at.path.child(name)))
  }
}

function checkEnum(allowed: readonly Json[], value: Json, { path, isDouble }: At, errors: FieldError[]): void {
  if (isOneOf(allowed, value)) return
  const shown = allowed.map((one) => (typeof one === "string" ? one : goJson(one)))
  errors.push(notSupported(path, isDouble === true ? shownDouble(Number(value)) : sortedKeys(value), shown))
}

/** The errors of the best match of several alternatives. */
function closest(tried: readonly Found[]): readonly FieldError[] {
  const most = Math.max(...tried.map(({ checks }) => checks))
  return tried.find(({ checks }) => checks === most)?.errors ?? []
}

function checkAlternatives(rules: SchemaRules, value: Json, at: At, found: Found): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = rules
  const { errors } = found
  const before = errors.length
  const look = (schema: Schema): Found => {
    const within: Found = { ...found, errors: [], owners: new Map(), checks: 0 }
    check(schema, value, at, within)
    return within
  }
  const fits = (schema: Schema): boolean => look(schema).errors.length === 0
  const fail = (detail: string): void => {
    errors.push(invalidValue(found.nowhere, "", `"${at.shown}" must ${detail}`))
  }
  if (anyOf.length > 0) {
    const tried: Found[] = []
    const isAny = anyOf.some((schema) => tried[tried.push(look(schema)) - 1]?.errors.length === 0)
    if (!isAny) {
      fail("validate at least one schema (anyOf)")
      errors.push(...closest(tried))
    }
  }
  if (oneOf.length > 0) {
    const tried = oneOf.map(look)
    const valid = tried.filter((one) => one.errors.length === 0).length
    if (valid === 0) {
      fail("validate one and only one schema (oneOf). Found none valid")
      errors.push(...closest(tried))
    } else if (valid > 1) fail(`validate one and only one schema (oneOf). Found ${valid} valid alternatives`)
  }
  if (allOf.length > 0) {
    const faults = allOf.map((schema) => look(schema).errors)
    errors.push(...faults.flat())
    const valid = faults.filter((list) => list.length === 0).length
    if (valid < allOf.length) fail(`validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`)
  }
  if (not !== undefined && fits(not)) fail("not validate the schema (not)")
  for (const error of errors.slice(before)) found.owners.set(error, at.path)
}
