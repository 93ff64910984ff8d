// The types of the aggregated document of discovery, whose kind is in no group that is served. Source: k8s.io/api/apidiscovery/v2.

import { schemaOfType } from "../../apimachinery/schema/facts.ts"
import type { FieldSchema, Schema } from "../../apimachinery/schema/schema.ts"

const text: Schema = { type: "string" }
const texts: Schema = { type: "list", items: text }

/** In the order of their numbers. `told`: fields whose zero is not the same as their absence. */
function message(fields: Readonly<Record<string, Schema>>, told: readonly string[] = []): Schema {
  const entries = Object.entries(fields).map(([name, schema], index): [string, FieldSchema] => [
    name,
    { schema, protobuf: index + 1, ...(told.includes(name) ? {} : { zero: "omit" }) },
  ])
  return { type: "object", fields: Object.fromEntries(entries) }
}

const listOf = (items: Schema): Schema => ({ type: "list", items })

const kind = message({ group: text, version: text, kind: text })
const subresource = message({ subresource: text, responseKind: kind, acceptedTypes: listOf(kind), verbs: texts }, [
  "responseKind",
  "verbs",
])
const resource = message(
  {
    resource: text,
    responseKind: kind,
    scope: text,
    singularResource: text,
    verbs: texts,
    shortNames: texts,
    categories: texts,
    subresources: listOf(subresource),
  },
  ["responseKind", "verbs"],
)
const version = message({ version: text, resources: listOf(resource), freshness: text })

let list: Schema | undefined

/** An APIGroupDiscoveryList. */
export function discoveryList(): Schema {
  const group = (): Schema => message({ metadata: meta("ObjectMeta"), versions: listOf(version) })
  return (list ??= message({ metadata: meta("ListMeta"), items: listOf(group()) }))
}

function meta(name: "ListMeta" | "ObjectMeta"): Schema {
  const schema = schemaOfType(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`)
  if (schema === undefined) throw new Error(`the facts have no ${name}`)
  return schema
}
