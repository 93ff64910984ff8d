// What is known of the built-in kinds of one Kubernetes minor: facts.json, made by generate/ (see its README). Read when
// first asked for; the schema of a kind is compiled when first asked for, with all types it reaches, and then shared.

import { ownValue } from "./json-object.ts"
import { dictionary } from "../dictionary.ts"
import { readFileSync } from "node:fs"
import type { GroupVersionKind, Json, KubeObject } from "../object.ts"
import { printGroupVersion } from "../object.ts"
import type { FieldSchema, Schema } from "./schema.ts"

export interface SubresourceFacts {
  name: string
  /** Of the kind it takes and gives, which may be another group's (Scale, Eviction). */
  group: string
  version: string
  kind: string
  verbs: readonly string[]
}

/** One built-in resource as discovery shows it. */
export interface ResourceFacts {
  group: string
  version: string
  resource: string
  singular: string
  kind: string
  /** "" when the resource cannot be listed. */
  listKind: string
  namespaced: boolean
  shortNames: readonly string[]
  categories: readonly string[]
  verbs: readonly string[]
  storageVersionHash?: string
  subresources: readonly SubresourceFacts[]
  /** Field selectors the kind has beyond metadata.name and metadata.namespace. */
  selectableFields?: readonly string[]
}

interface FieldFacts extends Omit<FieldSchema, "schema" | "patchStrategy"> {
  type: string
  patchStrategy?: string
  enum?: Json[]
}

interface TypeFacts {
  fields: Record<string, FieldFacts>
  required?: string[]
  mapType?: "atomic" | "granular"
}

interface Facts {
  release: string
  types: Record<string, TypeFacts>
  /** "apps/v1/Deployment" → name of the type. */
  kinds: Record<string, string>
  selectable: Record<string, string[]>
  resources: ResourceFacts[]
  bootstrap: KubeObject[]
}

const apimachinery = "io.k8s.apimachinery.pkg"
const apiextensions = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

/** The words of facts.json for what is no struct. */
const scalars: Record<string, Schema> = dictionary({
  string: { type: "string" },
  boolean: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  double: { type: "number", format: "double" },
  byte: { type: "string", format: "byte" },
  time: { type: "string", format: "time", name: `${apimachinery}.apis.meta.v1.Time` },
  microTime: { type: "string", format: "microTime", name: `${apimachinery}.apis.meta.v1.MicroTime` },
  duration: { type: "string", format: "duration", name: `${apimachinery}.apis.meta.v1.Duration` },
  quantity: { type: "string", format: "quantity", name: `${apimachinery}.api.resource.Quantity` },
  intOrString: { type: "intOrString", name: `${apimachinery}.util.intstr.IntOrString` },
  rawExtension: { type: "object", preserveUnknown: true, name: `${apimachinery}.runtime.RawExtension` },
  fieldsV1: { type: "object", preserveUnknown: true, name: `${apimachinery}.apis.meta.v1.FieldsV1` },
  json: { type: "any", name: `${apiextensions}.JSON` },
})

/** Of a definition's schemas: a schema or something else. They are compiled with the type that has them within. */
const unions: Record<string, (props: Schema) => Schema> = dictionary({
  jsonSchemaPropsOrBool: (object) => ({
    type: "any",
    name: `${apiextensions}.JSONSchemaPropsOrBool`,
    union: { object, boolean: true },
  }),
  jsonSchemaPropsOrArray: (object) => ({
    type: "any",
    name: `${apiextensions}.JSONSchemaPropsOrArray`,
    union: { object, list: { type: "list", items: object } },
  }),
  jsonSchemaPropsOrStringArray: (object) => ({
    type: "any",
    name: `${apiextensions}.JSONSchemaPropsOrStringArray`,
    union: { object, list: { type: "list", items: { type: "string" } } },
  }),
})

/** Options of requests: every group version knows them, with one type for all. */
const everywhere: ReadonlySet<string> = new Set([
  "CreateOptions",
  "DeleteOptions",
  "GetOptions",
  "ListOptions",
  "PatchOptions",
  "UpdateOptions",
  "WatchEvent",
])

let loaded: Facts | undefined
const compiled = new Map<string, Schema>()

function facts(): Facts {
  loaded ??= JSON.parse(readFileSync(new URL("./facts.json", import.meta.url), "utf8")) as Facts
  return loaded
}

/** "v1.36.3": the release whose behaviour the facts are. */
export function release(): string {
  return facts().release
}

let resources: readonly ResourceFacts[] | undefined

/** All built-in resources, in discovery's order. */
export function builtInResources(): readonly ResourceFacts[] {
  resources ??= facts().resources.map((resource) => {
    const selectable = facts().selectable[`${printGroupVersion(resource)}/${resource.kind}`]
    return selectable === undefined ? resource : { ...resource, selectableFields: selectable }
  })
  return resources
}

/** Undefined: not a built-in kind. Lists and helper kinds (Scale, Eviction, DeleteOptions, Status, …) have one too. */
export function schemaOf(kind: GroupVersionKind): Schema | undefined {
  const name = typeNameOf(kind)
  return name === undefined ? undefined : compile(name)
}

/** The schema of a type by its OpenAPI name: "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta". */
export function schemaOfType(name: string): Schema | undefined {
  return Object.hasOwn(facts().types, name) ? compile(name) : undefined
}

/** Kinds by the name of their type; one type may serve in several group versions. */
export function kindsOfTypes(): ReadonlyMap<string, readonly GroupVersionKind[]> {
  const kinds = new Map<string, GroupVersionKind[]>()
  for (const [key, name] of Object.entries(facts().kinds)) {
    const parts = key.split("/")
    const kind = parts.pop() ?? ""
    const version = parts.pop() ?? ""
    kinds.set(name, [...(kinds.get(name) ?? []), { group: parts[0] ?? "", version, kind }])
  }
  return kinds
}

/**
 * What a fresh kube-apiserver holds: cluster roles and bindings, roles, namespaces, priority classes, flow schemas,
 * APIServices, … without uids, times, resource versions. Shared: copy before changing.
 */
export function bootstrapObjects(): readonly KubeObject[] {
  return facts().bootstrap
}

function typeNameOf(kind: GroupVersionKind): string | undefined {
  const { kinds } = facts()
  const key = everywhere.has(kind.kind) ? `v1/${kind.kind}` : `${printGroupVersion(kind)}/${kind.kind}`
  return ownValue(kinds, key)
}

function compile(name: string): Schema {
  const known = compiled.get(name)
  if (known !== undefined) return known
  const type = facts().types[name]
  if (type === undefined) throw new Error(`facts.json names a type it does not have: ${name}`)
  // Without a prototype, so that looking up "constructor" as a field's name finds nothing.
  const fields: Record<string, FieldSchema> = Object.create(null) as Record<string, FieldSchema>
  const schema: Schema = { type: "object", name, fields }
  if (type.required !== undefined) schema.required = type.required
  if (type.mapType !== undefined) schema.mapType = type.mapType
  compiled.set(name, schema) // before its fields: types may be recursive
  for (const [field, { type: word, patchStrategy, enum: values, ...rest }] of Object.entries(type.fields)) {
    const typed = schemaOfWord(word)
    fields[field] = {
      ...rest,
      schema: values === undefined ? typed : withEnum(typed, values),
      ...(patchStrategy === undefined ? {} : { patchStrategy: patchStrategy.split(",") }),
    }
  }
  return schema
}

/** Of a list, the enum is that of its items. */
function withEnum(schema: Schema, values: readonly Json[]): Schema {
  if (schema.items === undefined) return { ...schema, rules: { enum: values } }
  return { ...schema, items: withEnum(schema.items, values) }
}

function schemaOfWord(word: string): Schema {
  const scalar = scalars[word]
  if (scalar !== undefined) return scalar
  const union = unions[word]
  if (union !== undefined) return union(compile(`${apiextensions}.JSONSchemaProps`))
  if (word.startsWith("[]")) return { type: "list", items: schemaOfWord(word.slice(2)) }
  if (word.startsWith("{}")) return { type: "map", items: schemaOfWord(word.slice(2)) }
  return compile(word)
}
