// Compiles a CustomResourceDefinition's openAPIV3Schema to a Schema, and rejects schemas that are not structural. Field errors
// have upstream's messages and order: of the structure (form.ts), then of the keywords (keywords.ts). Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema and pkg/apis/apiextensions/validation.

import { FieldPath, forbiddenField, invalidValue, required } from "../../field-errors.ts"
import type { FieldError } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { compileSchema } from "./compile.ts"
import { defaultErrors } from "./defaults.ts"
import { formErrors } from "./form.ts"
import { keywordErrors } from "./keywords.ts"
import type { Schema } from "../schema.ts"

/** The schema that accepts anything, to which an invalid schema is compiled. */
const anything: Schema = { type: "any", custom: true, preserveUnknown: true }

export interface Structural {
  /** Must not be used if there are errors. */
  schema: Schema
  errors: FieldError[]
  /** Structure and defaults are valid: rules can be compiled against it, except where keywords are wrong. */
  isSound: boolean
  keywordErrors: readonly FieldError[]
}

/** `path`: the path of the openAPIV3Schema in the definition. `before`: errors that are known already. */
export function compileStructural(
  openAPIV3Schema: Json,
  path: FieldPath = FieldPath.root(),
  before: readonly FieldError[] = [],
): Structural {
  const schema = openAPIV3Schema
  if (!isObject(schema)) {
    return { schema: anything, errors: [required(path, "must be an object")], isSound: false, keywordErrors: [] }
  }
  const nullable =
    schema["nullable"] === true ? [forbiddenField(path.child("nullable"), "nullable cannot be true at the root")] : []
  const keywords = keywordErrors(schema, path)
  const fault = formFault(schema)
  const form = fault === undefined ? formErrors(schema, path) : []
  // Defaults are checked if the structure is valid, regardless of other errors.
  const compiled = fault === undefined && form.length === 0 ? compileRoot(schema) : undefined
  const defaults = compiled === undefined ? [] : defaultErrors(schema, compiled, path)
  const errors = [...before, ...nullable, ...form, ...defaults, ...keywords]
  // An unsupported keyword is only reported if there are no other errors.
  if (fault !== undefined && errors.length === 0) errors.push(invalidValue(path, "", fault))
  return {
    schema: errors.length > 0 ? anything : (compiled ?? anything),
    errors,
    isSound: compiled !== undefined && defaults.length === 0,
    keywordErrors: keywords,
  }
}

function compileRoot(source: JsonObject): Schema {
  return { ...compileSchema(source), custom: true, source }
}

/** Why the structure cannot be checked: an unsupported keyword at any level. */
export function formFault(schema: JsonObject): string | undefined {
  for (const [keyword, name = keyword] of unsupported) {
    if (isGiven(keyword, schema[keyword])) return `OpenAPIV3Schema '${name}' is not supported`
  }
  if (Array.isArray(schema["items"])) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  for (const inner of schemasIn(schema)) {
    const fault = formFault(inner)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Keywords, with upstream's name if it differs. */
const unsupported: readonly (readonly [string, string?])[] = [
  ["id"],
  ["$schema", "schema"],
  ["$ref"],
  ["patternProperties"],
  ["dependencies"],
  ["additionalItems"],
  ["definitions"],
]

/** A schema counts even if it is empty, a map of schemas does not. */
function isGiven(keyword: string, value: Json | undefined): boolean {
  if (isObject(value) && Object.keys(value).length === 0) return keyword === "additionalItems"
  return value !== undefined && value !== null && value !== ""
}

function schemasIn(schema: JsonObject): JsonObject[] {
  const { items, properties, additionalProperties, not, allOf, anyOf, oneOf } = schema
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const fields = isObject(properties) ? Object.values(properties) : []
  return [items, ...fields, additionalProperties, not, ...lists].filter(
    (inner): inner is JsonObject => inner !== undefined && isObject(inner),
  )
}
