// The types of complete objects of a kind, from its published OpenAPI schema. Source:
// k8s.io/apiserver/pkg/cel/openapi/{extensions.go,resolver/refs.go}.

import type { GroupVersionKind, Json } from "../../object.ts"
import { remember } from "../../remember.ts"
import { schemaOf, schemaOfType } from "../../schema/facts.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"
import { customSchema } from "../../schema/openapi/custom.ts"
import { Definitions, objectMetaName } from "../../schema/openapi/schemas.ts"
import { type DeclaredType, declaredType } from "./declared-type.ts"

const refPrefix = "#/components/schemas/"
/** Number of cached types of built-in kinds: Pod's has some thousand fields. */
const maxKept = 20
const kept = new Map<string, DeclaredType | undefined>()

/** Undefined if there is no such kind. */
export function builtInType(kind: GroupVersionKind): DeclaredType | undefined {
  const key = `${kind.group}/${kind.version}/${kind.kind}`
  if (kept.has(key)) return kept.get(key)
  const schema = schemaOf(kind)
  if (schema === undefined) return undefined
  const definitions = new Definitions({ dialect: "v3" })
  return remember(kept, key, typeOf(definitions.refTo(schema), definitions), maxKept)
}

export function customType(openAPIV3Schema: Json): DeclaredType | undefined {
  const definitions = new Definitions({ dialect: "v3" })
  const objectMeta = definitions.refTo(schemaOfType(objectMetaName) ?? { type: "object" })
  return typeOf(
    customSchema(openAPIV3Schema, "v3", objectMeta, () => ({})),
    definitions,
  )
}

function typeOf(schema: JsonObject, definitions: Definitions): DeclaredType | undefined {
  const resolved = resolve(schema, Object.fromEntries(definitions.all()), new Set())
  return isObject(resolved) ? declaredType(resolved, true) : undefined
}

/** Resolves references; a recursive one becomes an object without known fields. */
function resolve(schema: Json | undefined, definitions: JsonObject, within: ReadonlySet<string>): Json | undefined {
  if (!isObject(schema)) return schema
  const name = referenceOf(schema)
  if (name === undefined) return resolveParts(schema, definitions, within)
  if (within.has(name)) return { type: "object" }
  const found = definitions[name]
  return isObject(found) ? resolveParts(found, definitions, new Set([...within, name])) : undefined
}

function resolveParts(schema: JsonObject, definitions: JsonObject, within: ReadonlySet<string>): JsonObject {
  const result: JsonObject = { ...schema }
  if (schema["format"] === "int-or-string") result["x-kubernetes-int-or-string"] = true
  for (const key of ["items", "additionalProperties"]) {
    const inner = resolve(schema[key], definitions, within)
    if (inner !== undefined) result[key] = inner
  }
  if (isObject(schema["properties"])) {
    const properties = Object.entries(schema["properties"])
    result["properties"] = Object.fromEntries(
      properties.map(([name, property]) => [name, resolve(property, definitions, within) ?? {}]),
    )
  }
  return result
}

/** A reference may be wrapped so that it can have a description or a default. */
function referenceOf(schema: JsonObject): string | undefined {
  const { $ref, allOf } = schema
  if (typeof $ref === "string") return $ref.replace(refPrefix, "")
  if (!Array.isArray(allOf)) return undefined
  for (const part of allOf) {
    if (isObject(part) && typeof part["$ref"] === "string") return part["$ref"].replace(refPrefix, "")
  }
  return undefined
}
