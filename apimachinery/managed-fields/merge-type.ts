// How a place of an object merges: which of its parts can have managers of their own. Made from the one Schema shape as
// kube-apiserver makes it from its OpenAPI, and kept by schema. Source: k8s.io/kube-openapi/pkg/schemaconv.

import type { Json } from "../object.ts"
import { schemaOfType } from "../schema/facts.ts"
import { isObject, ownValue } from "../schema/json-object.ts"
import type { FieldSchema, Schema } from "../schema/schema.ts"
import { zeroOf } from "../schema/zeros.ts"
import { fieldElement, type PathElement } from "./path-element.ts"

export type Scalar = "numeric" | "string" | "boolean" | "untyped"

/** What a value may be, at least one of the three; which one it is shows when there is a value. */
export interface MergeType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  readonly atomic: boolean
  /** Of a list that is not atomic: the fields that tell items apart; none: the items themselves do. */
  readonly keys: readonly string[]
  readonly items: MergeType
}

export interface MapType {
  readonly atomic: boolean
  /** A field the type names, and as which element of a path: made when first asked for, and kept. */
  named(name: string): NamedField | undefined
  field(name: string): MergeType | undefined
  /** What a list's key is when an item does not say it. */
  defaultOf(name: string): Json | undefined
  /** Fields that Go prints even if nobody gave them, and what it prints. */
  readonly zeros: ReadonlyMap<string, Json>
  /** Of entries that are no named fields; undefined: there are none. */
  readonly values: MergeType | undefined
}

export interface NamedField {
  readonly element: PathElement
  readonly type: MergeType
}

const noField = (): undefined => undefined
const noZeros: ReadonlyMap<string, Json> = new Map()

/** One value, whatever it is made of. */
const untyped: MergeType = {
  scalar: "untyped",
  get list(): ListType {
    return untypedList
  },
  map: {
    atomic: true,
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

/** Nothing is known: maps have entries, all else is one value. */
export const deduced: MergeType = {
  scalar: "untyped",
  list: untypedList,
  map: {
    atomic: false,
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

/** Two ways to look at a schema: below x-kubernetes-preserve-unknown-fields, unknown fields count. */
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

/** What may be of any type, but whose parts are named in case it is an object or a list. */
function ofAnyKind(schema: Schema, keepsUnknown: boolean, overrides: Overrides): MergeType {
  const { fields, more, items } = schema
  if (fields === undefined && more === undefined && items === undefined) return deduced
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
  // No fields named: anything may be there.
  const open = keepsUnknown || Object.keys(fields).length === 0
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

/** The one key that is the empty text when it is not said, which Go omits all the same. */
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

/** Whole objects have these, whatever their schema says. */
function objectField(name: string): MergeType | undefined {
  if (name === "apiVersion" || name === "kind") return { scalar: "string" }
  const schema = name === "metadata" ? schemaOfType(objectMeta) : undefined
  return schema && mergeTypeOf(schema)
}

/** A field that Go always prints has its zero for a default. */
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

/** Of a list that says no type, the older patch strategy says what it is. */
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

/** As what the value is looked at. One that does not fit is taken for the first that its type has. */
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

/** Of an entry of a map or a field of a struct. What no schema names is taken as it comes. */
export function entryType(map: MapType, name: string): MergeType {
  return map.field(name) ?? map.values ?? deduced
}
