// Prints a schema like Go in error messages: the struct in kube-apiserver's memory, with every field in order. Source:
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/types_jsonschema.go.

import { dictionary } from "../../dictionary.ts"
import type { Json } from "../../object.ts"
import { isGivenEmpty } from "../decode/given.ts"
import { isObject, type JsonObject } from "../json-object.ts"

/** The fields of a schema in Go's order; JSON names that differ from Go's name in lower case follow a colon. */
const schemaFields =
  "ID:id Schema:$schema Ref:$ref Description Type Nullable Format Title Default Maximum ExclusiveMaximum Minimum " +
  "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Enum MaxProperties MinProperties " +
  "Required Items AllOf OneOf AnyOf Not Properties AdditionalProperties PatternProperties Dependencies AdditionalItems " +
  "Definitions ExternalDocs Example XPreserveUnknownFields:x-kubernetes-preserve-unknown-fields " +
  "XEmbeddedResource:x-kubernetes-embedded-resource XIntOrString:x-kubernetes-int-or-string " +
  "XListMapKeys:x-kubernetes-list-map-keys XListType:x-kubernetes-list-type XMapType:x-kubernetes-map-type " +
  "XValidations:x-kubernetes-validations"

const fields = schemaFields.split(" ").map((field): readonly [string, string] => {
  const [name = "", own = name.charAt(0).toLowerCase() + name.slice(1)] = field.split(":")
  return [name, own]
})
/** Zero values of fields that are not pointers. */
const zeros: Readonly<Record<string, Json>> = dictionary({
  ...Object.fromEntries(
    ["ID", "Schema", "Description", "Type", "Format", "Title", "Pattern"].map((name) => [name, ""]),
  ),
  ...Object.fromEntries(
    ["Nullable", "ExclusiveMaximum", "ExclusiveMinimum", "UniqueItems", "XEmbeddedResource", "XIntOrString"].map(
      (name) => [name, false],
    ),
  ),
})

export function printSchema(schema: Json | undefined): Json {
  if (!isObject(schema)) return null
  return Object.fromEntries(
    fields.map(([name, own]) => {
      const given = valueOf(schema, name, own)
      return [name, given === null ? (zeros[name] ?? null) : printKeyword(name, given)]
    }),
  )
}

/** The fields of a schema that are set, without zero values, in Go's order. */
export function givenFields(schema: JsonObject): [string, Json][] {
  return fields
    .map(([name, own]): [string, Json] => [name, valueOf(schema, name, own)])
    .filter(([name, value]) => value !== null && value !== zeros[name])
}

const lists = new Set(["Enum", "Required", "AllOf", "OneOf", "AnyOf", "XListMapKeys", "XValidations"])
const maps = new Set(["Properties", "PatternProperties", "Dependencies", "Definitions"])

/** An empty list or map of the request counts as set, although it is not stored. */
function valueOf(schema: JsonObject, name: string, own: string): Json {
  const value = schema[own] ?? null
  if (value !== null || !isGivenEmpty(schema, own)) return value
  return lists.has(name) ? [] : maps.has(name) ? {} : null
}

function printKeyword(name: string, given: Json): Json {
  switch (name) {
    case "Items":
      return Array.isArray(given) ? printItems(given) : { Schema: printSchema(given), JSONSchemas: null }
    case "AllOf":
    case "OneOf":
    case "AnyOf":
      return Array.isArray(given) ? given.map(printSchema) : null
    case "Not":
      return printSchema(given)
    case "Properties":
    case "PatternProperties":
    case "Definitions":
      return entriesOf(given, printSchema)
    case "AdditionalProperties":
    case "AdditionalItems":
      return { Allows: given !== false, Schema: printSchema(given) }
    case "Dependencies":
      return entriesOf(given, (one) =>
        Array.isArray(one) ? { Schema: null, Property: one } : { Schema: printSchema(one), Property: null },
      )
    case "ExternalDocs":
      return isObject(given) ? { Description: given["description"] ?? "", URL: given["url"] ?? "" } : null
    case "XValidations":
      return Array.isArray(given) ? given.filter(isObject).map(printRule) : null
    default:
      return given
  }
}

/** Items that are a list of schemas. */
export const printItems = (schemas: readonly Json[]): Json => ({ Schema: null, JSONSchemas: schemas.map(printSchema) })

/** Go prints maps in key order. */
function entriesOf(given: Json, print: (value: Json) => Json): Json {
  if (!isObject(given)) return null
  const entries = Object.entries(given).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, value]) => [key, print(value)]))
}

function printRule(rule: JsonObject): Json {
  const { message = "", messageExpression = "", reason = null, fieldPath = "", optionalOldSelf = null } = rule
  return {
    Rule: rule["rule"] ?? "",
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf,
  }
}
