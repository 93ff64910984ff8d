// The common type of all object schemas: built-in kinds (from facts.json) and custom resources (from a CRD's
// openAPIV3Schema) are compiled to it. Decoding, defaulting, pruning, validation, strategic merge and OpenAPI use it.

import type { Json } from "../object.ts"

export type SchemaType = "object" | "list" | "map" | "string" | "integer" | "number" | "boolean" | "intOrString" | "any"

/** Formats that affect decoding. */
type SchemaFormat = "int32" | "int64" | "byte" | "time" | "microTime" | "duration" | "quantity" | (string & {})

export interface Schema {
  type: SchemaType
  /** type "any": an invalid type in a definition. The definition is rejected, and no value is valid. */
  unknownType?: string
  format?: SchemaFormat
  /** In a definition's schema: the format does not apply to the type, so values are not checked against it. */
  formatMeansNothing?: true
  /** type "object": JSON name → field. */
  fields?: Record<string, FieldSchema>
  /** type "list" and "map": the schema of items and values. */
  items?: Schema
  /** Except type "map": the schema of unnamed fields, from a definition's additionalProperties; "none" forbids them. */
  more?: Schema | "none"
  required?: readonly string[]
  default?: Json
  nullable?: boolean
  /** Unnamed fields are kept unchanged (RawExtension, x-kubernetes-preserve-unknown-fields). */
  preserveUnknown?: boolean
  /** The value is a complete object with apiVersion, kind, metadata (x-kubernetes-embedded-resource). */
  embedded?: boolean
  listType?: "atomic" | "set" | "map"
  listMapKeys?: readonly string[]
  mapType?: "atomic" | "granular"
  /** "merge", "replace", "retainKeys", from Go struct tags, split at the comma. */
  patchStrategy?: readonly string[]
  patchMergeKey?: string
  /** type "any" in a definition's schema: a schema or its alternatives. Other values are dropped or rejected. */
  union?: { object: Schema; list?: Schema; boolean?: true }
  /** OpenAPI name, such as "io.k8s.api.core.v1.PodSpec". Named types are shared objects, so recursion is possible. */
  name?: string
  /** The root of a custom resource: the decoder only prunes its fields; validateRules checks them. */
  custom?: boolean
  /** At a custom resource's root: the openAPIV3Schema it was compiled from, which is published with its descriptions. */
  source?: Json
  /** Value rules of a custom resource; built-in kinds have strategies instead (and here only enums, for OpenAPI). */
  rules?: SchemaRules
}

export interface FieldSchema {
  schema: Schema
  /** Protobuf field number of built-in types. */
  protobuf?: number
  /**
   * Number of the embedded protobuf message that contains the field (as in Volume's sources), although JSON has it flat; several
   * numbers, outermost first, if messages are nested.
   */
  protobufIn?: number | readonly number[]
  /** Go's name of that struct, and Go's name of a field's own type ("v1.Protocol"): both are for decode errors. */
  in?: string
  goType?: string
  /** Go's name of the field, if it is not the capitalized one of JSON; for errors of protobuf. */
  goName?: string
  /**
   * How Go's encoder treats a zero value (0, "", false, empty list, …): "omit" drops it even if it was given, "write" prints it
   * even if it was not. Absent for pointers, which are printed if they are set.
   */
  zero?: "omit" | "write"
  /** A pointer that is always printed: its zero value is null for any type. */
  pointer?: boolean
  /** Overrides of the shared type, from tags on the field. */
  default?: Json
  listType?: "atomic" | "set" | "map"
  listMapKeys?: readonly string[]
  mapType?: "atomic" | "granular"
  patchStrategy?: readonly string[]
  patchMergeKey?: string
}

export interface SchemaRules {
  enum?: readonly Json[]
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minProperties?: number
  maxProperties?: number
  allOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  not?: Schema
}

/** The schema of a list's items. */
export function schemaOfItems(schema: Schema): Schema | undefined {
  return schema.type === "map" ? undefined : schema.items
}

/** The schema of an object's field or a map's entry. Undefined if nothing is specified; "none" if the field is forbidden. */
export function schemaOfEntry(schema: Schema, name: string): Schema | "none" | undefined {
  if (schema.fields !== undefined && Object.hasOwn(schema.fields, name)) return schema.fields[name]?.schema
  return schema.type === "map" ? schema.items : schema.more
}

/** Whether values may contain embedded objects, or be one. */
export const hasEmbedded = within(({ embedded }) => embedded === true)

/** Whether there may be lists in them, or they may be lists, of which items are told apart. */
export const hasUniqueItems = within(({ listType }) => listType === "set" || listType === "map")

/** Whether it is so of the schema of a custom resource, or of one in it. */
function within(isSo: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const answers = new WeakMap<Schema, boolean>()
  const find = (schema: Schema): boolean => {
    const known = answers.get(schema)
    if (known !== undefined) return known
    const answer =
      isSo(schema) ||
      (schema.items !== undefined && find(schema.items)) ||
      (typeof schema.more === "object" && find(schema.more)) ||
      Object.values(schema.fields ?? {}).some((field) => find(field.schema))
    answers.set(schema, answer)
    return answer
  }
  return find
}
