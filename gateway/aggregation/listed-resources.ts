// Parses the resources that a server lists. The response is untrusted, and everything that does not conform to the types of
// discovery is dropped.

import type { Json } from "../../apimachinery/object.ts"
import { decodeObject } from "../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { isObject } from "../../apimachinery/schema/json-object.ts"
import { hasReason } from "../../apimachinery/status.ts"

/** From an APIResourceList; optional fields may be missing. */
export interface ListedResource {
  name: string
  singularName?: string
  namespaced?: boolean
  group?: string
  version?: string
  kind?: string
  verbs?: string[]
  shortNames?: string[]
  categories?: string[]
}

/** Returns undefined if the response is not a list of resources. */
export function resourcesOf(document: Json | undefined): readonly ListedResource[] | undefined {
  const schema = schemaOf({ group: "", version: "v1", kind: "APIResourceList" })
  if (schema === undefined) throw new Error("the facts have no APIResourceList")
  if (document === undefined || !isObject(document)) return undefined
  try {
    decodeObject(schema, document, false)
  } catch (error) {
    if (hasReason(error, "BadRequest")) return undefined
    throw error
  }
  const { resources } = document as { resources?: readonly Partial<ListedResource>[] }
  return resources?.filter((resource): resource is ListedResource => Boolean(resource.name))
}
