// What a program answers that it serves: it may say anything, and is taken at its word only as far as the types of discovery go.

import type { Json } from "../../apimachinery/object.ts"
import { decodeObject } from "../../apimachinery/schema/decode.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { isObject } from "../../apimachinery/schema/json-object.ts"
import { hasReason } from "../../apimachinery/status.ts"

/** Of an APIResourceList, with what may be missing of it. */
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

/** Undefined: it is no list of resources, whatever else the program has answered. */
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
