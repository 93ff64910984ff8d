// Published schemas: named types become shared definitions, in the dialects of both versions. Descriptions of built-in kinds are
// passed in (descriptions.ts); those of a custom resource come from its author.

import { ownValue } from "../json-object.ts"
import { dictionary } from "../../dictionary.ts"
import type { GroupVersion, GroupVersionKind } from "../../object.ts"
import { type Descriptions, noDescriptions, type TypeDescription } from "../descriptions.ts"
import { kindsOfTypes, schemaOfType } from "../facts.ts"
import type { JsonObject } from "../json-object.ts"
import type { FieldSchema, Schema } from "../schema.ts"
import { isBare, publishedDefaults, publishedUnions } from "./facts.ts"

export type Dialect = "v2" | "v3"

const meta = "io.k8s.apimachinery.pkg.apis.meta.v1"
export const objectMetaName = `${meta}.ObjectMeta`
const refPrefix = { v2: "#/definitions/", v3: "#/components/schemas/" } as const

/** Types that are not structs, by name. */
const scalars: Readonly<Record<string, { v2: JsonObject; v3: JsonObject }>> = dictionary({
  [`${meta}.Time`]: same({ type: "string", format: "date-time" }),
  [`${meta}.MicroTime`]: same({ type: "string", format: "date-time" }),
  [`${meta}.Duration`]: same({ type: "string" }),
  [`${meta}.FieldsV1`]: same({ type: "object" }),
  [`${meta}.Patch`]: same({ type: "object" }),
  "io.k8s.apimachinery.pkg.runtime.RawExtension": same({ type: "object" }),
  "io.k8s.apimachinery.pkg.api.resource.Quantity": {
    v2: { type: "string" },
    v3: { oneOf: [{ type: "string" }, { type: "number" }] },
  },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
    v2: { type: "string", format: "int-or-string" },
    v3: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  },
})

function same(schema: JsonObject): { v2: JsonObject; v3: JsonObject } {
  return { v2: schema, v3: schema }
}

/** Kinds of options, which exist in every group version; the listed group versions depend on the document. */
const optionKinds: ReadonlySet<string> = new Set([`${meta}.DeleteOptions`, `${meta}.WatchEvent`])

interface DefinitionsOptions {
  dialect: Dialect
  descriptions?: Descriptions
  /** The group versions listed for DeleteOptions and WatchEvent. */
  optionVersions?: readonly GroupVersion[]
}

/** The types that a document references, with their definitions. */
export class Definitions {
  readonly #dialect: Dialect
  /** Referenced built-in types; printed when all are known. */
  readonly #types = new Map<string, Schema>()
  readonly #custom = new Map<string, JsonObject>()
  readonly #kinds = kindsOfTypes()
  readonly #descriptions: Descriptions
  readonly #optionVersions: readonly GroupVersion[]

  constructor({ dialect, descriptions = noDescriptions, optionVersions = [] }: DefinitionsOptions) {
    this.#dialect = dialect
    this.#descriptions = descriptions
    this.#optionVersions = optionVersions
  }

  /** A field of every object, with the same description everywhere. */
  commonField(name: "apiVersion" | "kind"): JsonObject {
    const description = this.#descriptions.of("io.k8s.api.core.v1.Pod")?.fields.get(name)
    return description === undefined ? {} : { description }
  }

  /** All definitions referenced so far, directly or indirectly, sorted by name and generated lazily. */
  *all(): Generator<[name: string, definition: JsonObject]> {
    const names = [...this.#types.keys(), ...this.#custom.keys()].sort()
    for (const name of names) {
      const schema = this.#types.get(name)
      yield [name, this.#custom.get(name) ?? (schema === undefined ? {} : this.#define(schema, name))]
    }
  }

  ref(name: string): JsonObject {
    return { $ref: `${refPrefix[this.#dialect]}${name}` }
  }

  /** Returns a reference to a built-in type, which is then defined with all types it references. */
  refTo(schema: Schema): JsonObject {
    this.#reach(schema)
    return this.ref(schema.name ?? "")
  }

  /** Next to a built-in type of the name it has another one; a document of version 3 has none of those that it could be taken for. */
  define(name: string, schema: JsonObject): JsonObject {
    const own = this.#dialect === "v2" && schemaOfType(name) !== undefined ? `${name}_v2` : name
    this.#custom.set(own, schema)
    return this.ref(own)
  }

  #reach(schema: Schema): void {
    const { name } = schema
    if (name !== undefined) {
      if (this.#types.has(name)) return
      this.#types.set(name, schema) // before its fields, because types may be recursive
    }
    for (const field of Object.values(schema.fields ?? {})) this.#reach(field.schema)
    if (schema.items !== undefined) this.#reach(schema.items)
  }

  #define(schema: Schema, name: string): JsonObject {
    const described: TypeDescription | undefined = this.#descriptions.of(name)
    const words: JsonObject = described?.type === undefined ? {} : { description: described.type }
    const scalar = scalars[name]
    if (scalar !== undefined) return { ...words, ...scalar[this.#dialect] }
    if (schema.type !== "object" || schema.fields === undefined)
      return schema.type === "any" ? words : { ...words, type: schema.type }
    const properties: JsonObject = {}
    const defaults = this.#dialect === "v3" ? publishedDefaults(name) : undefined
    for (const [key, field] of Object.entries(schema.fields)) {
      if (isBare(name, key)) {
        properties[key] = this.#use(field.schema, false, false)
        continue
      }
      const description = described?.fields.get(key)
      properties[key] = { ...(description === undefined ? {} : { description }), ...this.#property(field) }
      const special = ownValue(defaults, key)
      if (special !== undefined) properties[key] = { ...properties[key], default: special }
    }
    const kinds = this.#kindsOf(name)
    const unions = publishedUnions(name)
    return {
      ...words,
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(schema.required === undefined ? {} : { required: [...schema.required] }),
      type: "object",
      ...(schema.mapType === undefined ? {} : { "x-kubernetes-map-type": schema.mapType }),
      ...(kinds === undefined
        ? {}
        : { "x-kubernetes-group-version-kind": kinds.map(({ group, version, kind }) => ({ group, kind, version })) }),
      ...(unions === undefined ? {} : { "x-kubernetes-unions": unions }),
    }
  }

  #kindsOf(type: string): readonly GroupVersionKind[] | undefined {
    const kinds = this.#kinds.get(type)
    const [first] = kinds ?? []
    if (first === undefined || !optionKinds.has(type)) return kinds
    return this.#optionVersions.map(({ group, version }) => ({ group, version, kind: first.kind }))
  }

  #property(field: FieldSchema): JsonObject {
    const extensions: JsonObject = {}
    if (field.listMapKeys !== undefined) extensions["x-kubernetes-list-map-keys"] = [...field.listMapKeys]
    if (field.listType !== undefined) extensions["x-kubernetes-list-type"] = field.listType
    if (field.mapType !== undefined) extensions["x-kubernetes-map-type"] = field.mapType
    if (field.patchMergeKey !== undefined) extensions["x-kubernetes-patch-merge-key"] = field.patchMergeKey
    if (field.patchStrategy !== undefined) extensions["x-kubernetes-patch-strategy"] = field.patchStrategy.join(",")
    return { ...this.#use(field.schema, true, field.zero === "write" && field.pointer !== true), ...extensions }
  }

  /** A schema at the place where it is used. In version 3 a reference cannot have siblings, so it is wrapped. */
  #use(schema: Schema, wrapped: boolean, hasZero: boolean): JsonObject {
    const zero: JsonObject = hasZero && this.#dialect === "v3" ? zeroDefault(schema) : {}
    if (schema.name !== undefined) {
      const ref = this.refTo(schema)
      return this.#dialect === "v3" && (wrapped || "default" in zero) ? { allOf: [ref], ...zero } : ref
    }
    switch (schema.type) {
      case "list":
        return { type: "array", items: this.#item(schema.items) }
      case "map":
        return { type: "object", additionalProperties: this.#item(schema.items) }
      default:
        return {
          type: schema.type,
          ...(schema.format === undefined ? {} : { format: schema.format }),
          ...(schema.rules?.enum === undefined ? {} : { enum: [...schema.rules.enum] }),
          ...zero,
        }
    }
  }

  #item(items: Schema | undefined): JsonObject {
    return items === undefined ? {} : this.#use(items, false, true)
  }
}

/** The default in version 3 for a value that is never absent in Go. */
function zeroDefault(schema: Schema): JsonObject {
  switch (schema.type) {
    case "string":
      return schema.format === undefined ? { default: "" } : {}
    case "integer":
    case "number":
      return { default: 0 }
    case "boolean":
      return { default: false }
    case "object":
      return schema.fields === undefined ? {} : { default: {} }
    default:
      return {}
  }
}
