// Strategic merge patch: a merge patch that uses the schema to determine which lists merge by which key. Directives: $patch
// (replace, delete), $retainKeys, $setElementOrder/<list>, $deleteFromPrimitiveList/<list>. Source of the rules and of the
// errors: k8s.io/apimachinery/pkg/util/strategicpatch.

import { isObject, type JsonObject, ownValue, setOwn } from "../schema/json-object.ts"
import type { Json } from "../object.ts"
import type { FieldSchema, Schema } from "../schema/schema.ts"
import { goQuote } from "../go/quote.ts"
import { badRequest, type StatusError, unexplained } from "../status.ts"
import { jsonKind } from "./merge-patch.ts"
import {
  asNew,
  deletePrefix,
  isDirective,
  listName,
  notOfKind,
  orderPrefix,
  patchDirective,
  retainKeysDirective,
  unknownDirective,
  withoutDirectives,
} from "./strategic-merge-directives.ts"
import { arrange, checkOrder, mergeLists, type ListMerge } from "./strategic-merge-list.ts"

/** The schema's information about the patched field. Fields unknown to the schema merge as in JSON Merge Patch. */
interface Place {
  schema: Schema | undefined
  strategy: string | undefined
  mergeKey: string | undefined
}

/**
 * Returns a new value that shares unchanged parts, and parts of the patch. Modifies the patch as upstream does: directives that
 * were applied and nulls without effect are removed from it.
 */
export function applyStrategicMergePatch(target: Json, patch: Json, schema: Schema): Json {
  if (patch === null) return target
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`)
  }
  return mergeObjects(isObject(target) ? target : {}, patch, schema)
}

function placeOf(schema: Schema | undefined, key: string): Place {
  if (schema?.type === "map") return { schema: schema.items, strategy: undefined, mergeKey: undefined }
  const field = fieldOf(schema, key)
  const strategies = field?.patchStrategy ?? field?.schema.patchStrategy ?? []
  return {
    schema: field?.schema,
    strategy: strategies.find((strategy) => strategy !== "retainKeys"),
    mergeKey: field?.patchMergeKey ?? field?.schema.patchMergeKey,
  }
}

function mergeObjects(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = ownValue(patch, patchDirective)
  if (directive === "replace") {
    // It affects only this level; nested values are taken unchanged.
    delete patch[patchDirective]
    return patch
  }
  if (directive === "delete") return {}
  if (directive !== undefined) throw unknownDirective(directive, patch)
  const result = retainKeys(target, patch)
  applyOrders(result, patch, schema)
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deletePrefix)) deletePrimitives(result, key, value, schema)
    else if (value === null) delete result[key]
    else mergeField(result, key, value, schema)
  }
  return result
}

function mergeField(result: JsonObject, key: string, patch: Json, schema: Schema | undefined): void {
  const current = ownValue(result, key)
  const place = placeOf(schema, key)
  if (isObject(current) && isObject(patch)) {
    checkField(schema, key)
    setOwn(result, key, place.strategy === "replace" ? patch : mergeObjects(current, patch, place.schema))
  } else if (Array.isArray(current) && Array.isArray(patch)) {
    checkField(schema, key)
    setOwn(result, key, place.strategy === "merge" ? mergeLists(current, patch, listMerge(place)) : patch)
  } else {
    const plain = asNew(patch)
    if (plain === undefined) delete result[key]
    else setOwn(result, key, plain)
  }
}

function listMerge({ mergeKey, schema }: Place): ListMerge {
  const items = schema?.items
  return {
    mergeKey,
    mergeItems: (current, patch) => mergeObjects(current, patch, items),
    itemKind: items?.type === "object" || items === undefined ? "struct" : items.type,
  }
}

/** Only the listed keys are kept; those that the patch sets must be listed. */
function retainKeys(target: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, retainKeysDirective)) return { ...target }
  const retained = patch[retainKeysDirective]
  delete patch[retainKeysDirective]
  const refused = badRequest("invalid patch format of retainKeys")
  if (!Array.isArray(retained)) throw refused
  const kept = new Set(retained)
  for (const [key, value] of Object.entries(patch)) {
    if (!isDirective(key) && value !== null && !kept.has(key)) throw refused
  }
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)))
}

/** Merges the lists for which the patch has an order, sorts them, and removes them from the patch. */
function applyOrders(result: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
  for (const [directive, order] of Object.entries(patch)) {
    if (!directive.startsWith(orderPrefix)) continue
    delete patch[directive]
    if (!Array.isArray(order)) throw notOfKind("[]interface {}", order)
    const key = listName(directive, orderPrefix)
    const place = placeOf(schema, key)
    const current = listAt(result, key)
    const patched = listAt(patch, key)
    checkListField(schema, key)
    if (patched !== undefined) checkOrder(patched, order, place.mergeKey)
    if (current === undefined && patched === undefined) continue
    if ((current ?? []).length + (patched ?? []).length === 0)
      throw unexplained("no elements in any of the given slices") // upstream cannot determine their type
    if (patched === undefined && place.mergeKey !== undefined) checkNamed(order)
    setOwn(result, key, arrange(mergedList(current, patched, place), order, current ?? [], place.mergeKey))
    delete patch[key]
  }
}

/** Inside a struct of bytes (RawExtension), a field cannot be merged with an existing one. */
function checkField(schema: Schema | undefined, key: string): void {
  if (schema?.type !== "object" || schema.name === undefined) return
  if (fieldOf(schema, key) === undefined) throw noField(schema.name, key)
}

/** An order names a field of a struct that is a list, even if no list is there. Source: PatchMetaFromStruct.LookupPatchMetadataForSlice. */
function checkListField(schema: Schema | undefined, key: string): void {
  if (schema?.type === "map")
    throw unexplained("merging an object in json but data type is not struct, instead is: map")
  if (schema?.type !== "object" || schema.name === undefined) return
  const field = fieldOf(schema, key)
  if (field === undefined) throw noField(schema.name, key)
  const isList = field.schema.type === "list" || field.schema.format === "byte"
  if (!isList && field.zero !== undefined) throw unexplained("expected slice or array type, but got: struct")
}

/** As Go's decoder, in any case if there is none in this one. */
function fieldOf(schema: Schema | undefined, key: string): FieldSchema | undefined {
  const fields = schema?.fields ?? {}
  const folded = (name: string): boolean => name.toLowerCase() === key.toLowerCase()
  return ownValue(fields, key) ?? fields[Object.keys(fields).find(folded) ?? ""]
}

/** Source: third_party/forked/golang/json/fields.go (LookupPatchMetadataForSlice). */
function noField(struct: string, key: string): StatusError {
  return unexplained(
    `unable to find api field in struct ${struct.split(".").at(-1) ?? ""} for the json field ${goQuote(key)}`,
  )
}

/** Source: findMapInSliceBasedOnKeyValue, which looks up the object's items in the order. */
function checkNamed(order: readonly Json[]): void {
  const index = order.findIndex((item) => !isObject(item))
  if (index >= 0) throw unexplained(`value for key ${index} is not a map`)
}

function mergedList(current: Json[] | undefined, patched: Json[] | undefined, place: Place): Json[] {
  if (patched === undefined) return current ?? []
  if (current === undefined) return patched.map(withoutDirectives).filter((item) => item !== undefined)
  return place.strategy === "merge" ? mergeLists(current, patched, listMerge(place)) : patched
}

function listAt(object: JsonObject, key: string): Json[] | undefined {
  const value = ownValue(object, key)
  if (value === undefined || Array.isArray(value)) return value
  throw notOfKind("[]interface {}", value)
}

/** Ignored if there is no list to delete from. */
function deletePrimitives(result: JsonObject, directive: string, values: Json, schema: Schema | undefined): void {
  const key = listName(directive, deletePrefix)
  const current = ownValue(result, key)
  if (values === null) delete result[key]
  else if (Array.isArray(current) && Array.isArray(values)) {
    checkField(schema, key)
    setOwn(result, key, mergeLists(current, values, listMerge(placeOf(schema, key)), true))
  }
}
