// How the parts of an object merge: which of them can have managers of their own. Derived from a Schema in the way kube-apiserver
// derives it from its OpenAPI, and cached per schema. Source: k8s.io/kube-openapi/pkg/schemaconv.

import type { Json } from "../object.ts"
import { schemaOfType } from "../schema/facts.ts"
import { isObject, ownValue } from "../schema/json-object.ts"
import type { FieldSchema, Schema } from "../schema/schema.ts"
import { zeroOf } from "../schema/zeros.ts"
import { fieldElement, type PathElement } from "./path-element.ts"

export type Scalar = "numeric" | "string" | "boolean" | "untyped"

/** The kinds of values that are allowed, at least one of the three; the actual value determines which one applies. */
export interface MergeType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  readonly atomic: boolean
  /** For associative lists: the fields that identify items; if empty, the items identify themselves. */
  readonly keys: readonly string[]
  readonly items: MergeType
}

export interface MapType {
  readonly atomic: boolean
  /** Fields are named in the type. */
  readonly hasFields: boolean
  /** A field named in the type, with its path element; created on first use and cached. */
  named(name: string): NamedField | undefined
  field(name: string): MergeType | undefined
  /** The value of a list's key field in items that lack it. */
  defaultOf(name: string): Json | undefined
  /** Fields that Go prints even if they are not set, with the printed values. */
  readonly zeros: ReadonlyMap<string, Json>
  /** Type of entries that are not named fields; undefined: no such entries. */
  readonly values: MergeType | undefined
}

interface NamedField {
  readonly element: PathElement
  readonly type: MergeType
}

const noField = (): undefined => undefined
const noZeros: ReadonlyMap<string, Json> = new Map()

/** An atomic value of any kind: upstream's __untyped_atomic_. */
export const untyped: MergeType = {
  scalar: "untyped",
  get list(): ListType {
    return untypedList
  },
  map: {
    atomic: true,
    hasFields: false,
    field: noField,
    defaultOf: noField,
    zeros: noZeros,
    named: noField,
    get values() {
      return untyped
    },
  },
}
const untypedList: ListType = { atomic: true, keys: [], items: untyped }

/** Without a schema: maps have entries, everything else is atomic: upstream's __untyped_deduced_. */
export const deduced: MergeType = {
  scalar: "untyped",
  list: untypedList,
  map: {
    atomic: false,
    hasFields: false,
    field: noField,
    defaultOf: noField,
    zeros: noZeros,
    named: noField,
    get values() {
      return deduced
    },
  },
}

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
const localReference = "io.k8s.api.core.v1.LocalObjectReference"
const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

/** Caches for two modes: below x-kubernetes-preserve-unknown-fields, unknown fields have managers too. */
const known = new WeakMap<Schema, MergeType>()
const knownBelowUnknown = new WeakMap<Schema, MergeType>()

export function mergeTypeOf(schema: Schema): MergeType {
  return typeOf(schema, false)
}

function typeOf(schema: Schema, keepsUnknown: boolean): MergeType {
  const preserves = keepsUnknown || (schema.preserveUnknown === true && schema.name === undefined)
  const cache = preserves ? knownBelowUnknown : known
  let type = cache.get(schema)
  if (type === undefined) {
    type = make(schema, preserves, {})
    cache.set(schema, type)
  }
  return type
}

type Overrides = Pick<FieldSchema, "listType" | "listMapKeys" | "mapType" | "patchStrategy" | "patchMergeKey">

function typeOfField(field: FieldSchema, keepsUnknown: boolean): MergeType {
  const { listType, mapType, patchStrategy, schema } = field
  if (listType === undefined && mapType === undefined && patchStrategy === undefined) {
    return typeOf(schema, keepsUnknown)
  }
  return make(schema, keepsUnknown || (schema.preserveUnknown === true && schema.name === undefined), field)
}

function make(schema: Schema, keepsUnknown: boolean, overrides: Overrides): MergeType {
  switch (schema.type) {
    case "object":
      if (schema.name === rawExtension) return untyped
      return { map: structType(schema, keepsUnknown, overrides) }
    case "map":
      return {
        map: {
          atomic: (overrides.mapType ?? schema.mapType) === "atomic",
          hasFields: false,
          field: noField,
          defaultOf: noField,
          zeros: noZeros,
          named: noField,
          get values() {
            return schema.items === undefined ? deduced : typeOf(schema.items, keepsUnknown)
          },
        },
      }
    case "list":
      return { list: listType(schema, keepsUnknown, overrides) }
    case "any":
    case "intOrString":
      return ofAnyKind(schema, keepsUnknown, overrides)
    case "integer":
    case "number":
      return { scalar: "numeric" }
    case "boolean":
      return { scalar: "boolean" }
    case "string":
      return { scalar: schema.format === undefined || schema.format === "byte" ? "string" : "untyped" }
  }
}

/** For values of any type, whose parts are described in case they are objects or lists. */
function ofAnyKind(schema: Schema, keepsUnknown: boolean, overrides: Overrides): MergeType {
  const { fields, more, items, custom } = schema
  // The root of an object has fields of its own.
  if (fields === undefined && more === undefined && items === undefined && custom !== true) return deduced
  return {
    scalar: "untyped",
    list: listType(schema, keepsUnknown, overrides),
    map: structType(schema, keepsUnknown, overrides),
  }
}

function structType(schema: Schema, keepsUnknown: boolean, overrides: Overrides): MapType {
  const { fields = {}, more } = schema
  const whole = schema.custom === true || schema.embedded === true
  const fieldsMet = new Map<string, NamedField>()
  // Without named fields, any field is allowed. Complete objects always have some.
  const hasFields = whole || Object.keys(fields).length > 0
  const open = keepsUnknown || !hasFields
  const named = (name: string): NamedField | undefined => {
    let met = fieldsMet.get(name)
    if (met !== undefined) return met
    const found = ownValue(fields, name)
    const type = (whole ? objectField(name) : undefined) ?? (found && typeOfField(found, keepsUnknown))
    if (type === undefined) return undefined
    fieldsMet.set(name, (met = { element: fieldElement(name), type }))
    return met
  }
  return {
    atomic: (overrides.mapType ?? schema.mapType) === "atomic",
    hasFields,
    named,
    field: (name) => named(name)?.type,
    zeros: zerosOf(fields),
    defaultOf: (name) =>
      Object.hasOwn(fields, name) ? (defaultOf(fields[name]) ?? emptyDefault(schema, name)) : undefined,
    get values() {
      if (more === undefined) return open ? deduced : undefined
      return more === "none" ? undefined : typeOf(more, keepsUnknown)
    },
  }
}

/** The only key whose default is the empty string although Go omits it. */
function emptyDefault({ name: type }: Schema, field: string): Json | undefined {
  return type === localReference && field === "name" ? "" : undefined
}

function zerosOf(fields: Record<string, FieldSchema>): ReadonlyMap<string, Json> {
  let zeros: Map<string, Json> | undefined
  for (const [name, { zero, pointer, schema }] of Object.entries(fields)) {
    if (zero !== "write") continue
    const isStruct = schema.type === "object" && schema.fields !== undefined
    const value = pointer === true || schema.format === "byte" ? null : isStruct ? {} : zeroOf(schema)
    zeros = (zeros ?? new Map<string, Json>()).set(name, value)
  }
  return zeros ?? noZeros
}

/** Fields of complete objects, regardless of their schema. */
function objectField(name: string): MergeType | undefined {
  if (name === "apiVersion" || name === "kind") return { scalar: "string" }
  const schema = name === "metadata" ? schemaOfType(objectMeta) : undefined
  return schema && mergeTypeOf(schema)
}

/** The default of a field that Go always prints is its zero value. */
function defaultOf(field: FieldSchema | undefined): Json | undefined {
  if (field === undefined) return undefined
  const preset = field.default ?? field.schema.default
  if (preset !== undefined) return preset
  return field.zero === "write" && field.pointer !== true ? zeroOf(field.schema) : undefined
}

function listType(schema: Schema, keepsUnknown: boolean, overrides: Overrides): ListType {
  const { items: itemSchema } = schema
  let items: MergeType | undefined
  return {
    ...relationOf(schema, overrides),
    get items() {
      return (items ??= itemSchema === undefined ? untyped : typeOf(itemSchema, keepsUnknown))
    },
  }
}

/** For a list without x-kubernetes-list-type, the older patch strategy determines how it merges. */
function relationOf(schema: Schema, overrides: Overrides): { atomic: boolean; keys: readonly string[] } {
  const type = overrides.listType ?? schema.listType
  if (type === "map") return { atomic: false, keys: overrides.listMapKeys ?? schema.listMapKeys ?? [] }
  if (type !== undefined) return { atomic: type === "atomic", keys: [] }
  const strategy = overrides.patchStrategy ?? schema.patchStrategy ?? []
  if (!strategy.includes("merge")) return { atomic: true, keys: [] }
  const key = overrides.patchMergeKey ?? schema.patchMergeKey
  return { atomic: false, keys: key === undefined ? [] : [key] }
}

export type Part = "map" | "scalar" | "list"

/** The kind as which the value is treated. A value of another kind is treated as the first kind of its type. */
export function partOf(type: MergeType, value: Json): Part {
  if (value !== null) {
    if (Array.isArray(value)) {
      if (type.list !== undefined) return "list"
    } else if (isObject(value)) {
      if (type.map !== undefined) return "map"
    } else if (type.scalar !== undefined) return "scalar"
  }
  return type.map !== undefined ? "map" : type.scalar !== undefined ? "scalar" : "list"
}

/** The type of a map's entry or a struct's field. Without a schema, it is deduced from the value. */
export function entryType(map: MapType, name: string): MergeType {
  return map.field(name) ?? map.values ?? deduced
}
