// Compiles a CustomResourceDefinition's openAPIV3Schema to a Schema, and rejects schemas that are not structural. Field errors
// have upstream's messages and order: of the structure (form.ts), then of the keywords (keywords.ts). Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema and pkg/apis/apiextensions/validation.

import { FieldPath, forbiddenField, invalidValue, required } from "../../field-errors.ts"
import type { FieldError } from "../../field-errors.ts"
import type { Json } from "../../object.ts"
import { atOnce, type Steps } from "../../steps.ts"
import { isObject, type JsonObject } from "../json-object.ts"
import { compileSchema } from "./compile.ts"
import { checkingDefaults } from "./defaults.ts"
import { checkingForm } from "./form.ts"
import { formFault } from "./form-fault.ts"
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

export function compileStructural(
  openAPIV3Schema: Json,
  path: FieldPath = FieldPath.root(),
  before: readonly FieldError[] = [],
): Structural {
  return atOnce(compilingStructural(openAPIV3Schema, path, before))
}

/** `path`: the path of the openAPIV3Schema in the definition. `before`: errors that are known already. */
export function* compilingStructural(
  openAPIV3Schema: Json,
  path: FieldPath,
  before: readonly FieldError[],
): Steps<Structural> {
  const schema = openAPIV3Schema
  if (!isObject(schema)) {
    return { schema: anything, errors: [required(path, "must be an object")], isSound: false, keywordErrors: [] }
  }
  const nullable =
    schema["nullable"] === true ? [forbiddenField(path.child("nullable"), "nullable cannot be true at the root")] : []
  const keywords = keywordErrors(schema, path)
  yield
  const fault = formFault(schema)
  yield
  const form = fault === undefined ? yield* checkingForm(schema, path) : []
  yield
  // Defaults are checked if the structure is valid, regardless of other errors.
  const compiled = fault === undefined && form.length === 0 ? compileRoot(schema) : undefined
  yield
  const defaults = compiled === undefined ? [] : yield* checkingDefaults(schema, compiled, path)
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

/** Of a definition that has been validated. */
export function compileValid(openAPIV3Schema: Json): Schema {
  return isObject(openAPIV3Schema) ? compileRoot(openAPIV3Schema) : anything
}

function compileRoot(source: JsonObject): Schema {
  return { ...compileSchema(source), custom: true, source }
}
