// The common type of all object schemas: built-in kinds (from facts.json) and custom resources (from a CRD's
// openAPIV3Schema) are compiled to it. Decoding, defaulting, pruning, validation, strategic merge and OpenAPI use it.

import type { Json } from "../object.ts"

export type SchemaType = "object" | "list" | "map" | "string" | "integer" | "number" | "boolean" | "intOrString" | "any"

/** Formats that change what a decoder accepts. */
export type SchemaFormat = "int32" | "int64" | "byte" | "time" | "microTime" | "duration" | "quantity" | (string & {})

export interface Schema {
  type: SchemaType
  /** type "any": what a definition says instead of a type. It is refused for it, and no value fits. */
  unknownType?: string
  format?: SchemaFormat
  /** Of a definition's schema: the format is none of its type, so values are not checked against it. */
  formatMeansNothing?: true
  /** type "object": JSON name → field. */
  fields?: Record<string, FieldSchema>
  /** type "list" and "map": of the items and values. */
  items?: Schema
  /** Not of type "map": fields that are not named, as a definition's additionalProperties say; "none": there must be none. */
  more?: Schema | "none"
  required?: readonly string[]
  default?: Json
  nullable?: boolean
  /** Fields that are not named are kept as they are (RawExtension, x-kubernetes-preserve-unknown-fields). */
  preserveUnknown?: boolean
  /** The value is a whole object with apiVersion, kind, metadata (x-kubernetes-embedded-resource). */
  embedded?: boolean
  listType?: "atomic" | "set" | "map"
  listMapKeys?: readonly string[]
  mapType?: "atomic" | "granular"
  /** "merge", "replace", "retainKeys", as Go struct tags have it, split at the comma. */
  patchStrategy?: readonly string[]
  patchMergeKey?: string
  /** type "any" of a definition's schema: a schema, or what else may stand for one. Other values are none, or refused. */
  union?: { object: Schema; list?: Schema; boolean?: true }
  /** Name in OpenAPI: "io.k8s.api.core.v1.PodSpec". Types with a name are shared objects, so recursion is possible. */
  name?: string
  /** The root of a custom resource: its fields are pruned at decoding and checked by validateRules, not by the decoder. */
  custom?: boolean
  /** Of a custom resource's root: the openAPIV3Schema it was compiled from, to be published with its descriptions. */
  source?: Json
  /** Value rules of a custom resource; built-in kinds have strategies instead (and here only enums, for OpenAPI). */
  rules?: SchemaRules
}

export interface FieldSchema {
  schema: Schema
  /** Protobuf field number of built-in types. */
  protobuf?: number
  /**
   * Number of the embedded protobuf message the field lies in (Volume's sources), although JSON has it flat; several
   * numbers, outermost first, when it lies in one within one.
   */
  protobufIn?: number | readonly number[]
  /** Go's name of that struct, and how Go prints a field's own type ("v1.Protocol"): both are for decode errors. */
  in?: string
  goType?: string
  /**
   * What Go's encoder does with a zero value (0, "", false, empty list, …): "omit" drops it even if it was given,
   * "write" prints it even if it was not. Absent for pointers: there if it was given, with the value given.
   */
  zero?: "omit" | "write"
  /** A pointer that is always printed: its zero value is null whatever its type. */
  pointer?: boolean
  /** Overrides of what the shared type says, as tags on the field do. */
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

/** Of the items of a list. */
export function schemaOfItems(schema: Schema): Schema | undefined {
  return schema.type === "map" ? undefined : schema.items
}

/** Of a field of an object or an entry of a map. Undefined: nothing is said of it; "none": there must be no such field. */
export function schemaOfEntry(schema: Schema, name: string): Schema | "none" | undefined {
  if (schema.fields !== undefined && Object.hasOwn(schema.fields, name)) return schema.fields[name]?.schema
  return schema.type === "map" ? schema.items : schema.more
}

const embedding = new WeakMap<Schema, boolean>()

/** Whether there may be whole objects in a value of it, or it is one. */
export function hasEmbedded(schema: Schema): boolean {
  let answer = embedding.get(schema)
  if (answer === undefined) {
    answer =
      schema.embedded === true ||
      (schema.items !== undefined && hasEmbedded(schema.items)) ||
      Object.values(schema.fields ?? {}).some((field) => hasEmbedded(field.schema))
    embedding.set(schema, answer)
  }
  return answer
}
