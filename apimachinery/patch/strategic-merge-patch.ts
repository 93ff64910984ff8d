// Strategic merge patch: a merge patch that knows from the schema which lists merge by which key. Directives: $patch
// (replace, delete, merge), $retainKeys, $setElementOrder/<list>, $deleteFromPrimitiveList/<list>. Source:
// k8s.io/apimachinery/pkg/util/strategicpatch.

import type { Json } from "../object.ts"
import type { FieldSchema, Schema } from "../schema/schema.ts"
import { badRequest } from "../status.ts"
import { isObject, setKey } from "./merge-patch.ts"

type JsonObject = { [key: string]: Json }

const patchDirective = "$patch"
const retainKeysDirective = "$retainKeys"
const orderPrefix = "$setElementOrder/"
const deletePrefix = "$deleteFromPrimitiveList/"

/** What the schema says of the place patched. Places it does not know merge as JSON Merge Patch does. */
interface Place {
  schema: Schema | undefined
  strategy: readonly string[]
  mergeKey: string | undefined
}

/** Returns a new value; neither input is changed. Throws BadRequest for patches that make no sense. */
export function applyStrategicMergePatch(target: Json, patch: Json, schema: Schema): Json {
  if (!isObject(patch)) throw badRequest("a strategic merge patch must be an object")
  return mergeObject(isObject(target) ? target : {}, patch, schema)
}

function placeOf(schema: Schema | undefined, key: string): Place {
  if (schema?.type === "map") return { schema: schema.items, strategy: [], mergeKey: undefined }
  const field: FieldSchema | undefined = Object.hasOwn(schema?.fields ?? {}, key) ? schema?.fields?.[key] : undefined
  return {
    schema: field?.schema,
    strategy: field?.patchStrategy ?? field?.schema.patchStrategy ?? [],
    mergeKey: field?.patchMergeKey ?? field?.schema.patchMergeKey,
  }
}

function mergeObject(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = patch[patchDirective]
  if (directive === "replace") return withoutDirectives(patch)
  if (directive === "delete") return {}
  if (directive !== undefined && directive !== "merge")
    throw badRequest(`unknown patch type: ${JSON.stringify(directive)}`)
  const result = retainKeys(target, patch)
  for (const [key, value] of Object.entries(patch)) {
    if (key === patchDirective || key === retainKeysDirective || key.startsWith(orderPrefix)) continue
    if (key.startsWith(deletePrefix)) {
      deletePrimitives(result, key.slice(deletePrefix.length), value)
      continue
    }
    if (value === null) delete result[key]
    else
      setKey(result, key, mergeValue(Object.hasOwn(result, key) ? result[key] : undefined, value, placeOf(schema, key)))
  }
  for (const [key, order] of Object.entries(patch)) {
    if (key.startsWith(orderPrefix)) setOrder(result, key.slice(orderPrefix.length), order, schema)
  }
  return result
}

function retainKeys(target: JsonObject, patch: JsonObject): JsonObject {
  const retained = patch[retainKeysDirective]
  if (retained === undefined) return { ...target }
  if (!Array.isArray(retained)) throw badRequest("invalid retainKeys directive: it must be a list")
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith("$") && value !== null && !retained.includes(key)) {
      throw badRequest(`expect the key ${key} of the patch to be in the retainKeys list`)
    }
  }
  return Object.fromEntries(Object.entries(target).filter(([key]) => retained.includes(key)))
}

function mergeValue(current: Json | undefined, patch: Json, place: Place): Json {
  if (isObject(patch)) {
    if (place.strategy.includes("replace")) return withoutDirectives(patch)
    return mergeObject(isObject(current) ? current : {}, patch, place.schema)
  }
  if (!Array.isArray(patch)) return patch
  if (!place.strategy.includes("merge")) return withoutListDirectives(patch)
  const list = Array.isArray(current) ? current : []
  return place.mergeKey === undefined
    ? mergePrimitives(list, patch)
    : mergeByKey(list, patch, place.mergeKey, place.schema?.items)
}

/** The union, in the order first seen. */
function mergePrimitives(current: readonly Json[], patch: readonly Json[]): Json[] {
  return [...new Set([...current, ...patch])]
}

function mergeByKey(
  current: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
  schema: Schema | undefined,
): Json[] {
  const elements = patch.map((element) => {
    if (!isObject(element)) throw badRequest(`a list that merges by "${mergeKey}" must hold objects`)
    return element
  })
  if (elements.some((element) => element[patchDirective] === "replace" && element[mergeKey] === undefined)) {
    return elements.filter((element) => element[patchDirective] === undefined).map(withoutDirectives)
  }
  const result: Json[] = [...current]
  for (const element of elements) {
    const value = element[mergeKey]
    if (value === undefined || value === null) {
      throw badRequest(`map: ${JSON.stringify(element)} does not contain declared merge key: ${mergeKey}`)
    }
    const at = result.findIndex((item) => isObject(item) && item[mergeKey] === value)
    const found = result[at]
    if (element[patchDirective] === "delete") {
      for (let index = result.length - 1; index >= 0; index--) {
        const item = result[index]
        if (isObject(item) && item[mergeKey] === value) result.splice(index, 1)
      }
    } else if (at >= 0 && isObject(found)) result[at] = mergeObject(found, element, schema)
    else result.push(mergeObject({}, element, schema))
  }
  return result
}

function deletePrimitives(result: JsonObject, key: string, values: Json): void {
  if (!Array.isArray(values)) throw badRequest(`${deletePrefix}${key} must be a list`)
  const current = result[key]
  if (Array.isArray(current)) result[key] = current.filter((item) => !values.includes(item))
}

/**
 * Items the order names come in its order; the others stay where they are relative to their neighbours: each follows
 * the item it followed before.
 */
function setOrder(result: JsonObject, key: string, order: Json, schema: Schema | undefined): void {
  const list = result[key]
  if (!Array.isArray(order)) throw badRequest(`${orderPrefix}${key} must be a list`)
  if (!Array.isArray(list)) return
  const { mergeKey } = placeOf(schema, key)
  const identity = (item: Json): Json | undefined => (mergeKey !== undefined && isObject(item) ? item[mergeKey] : item)
  const wanted = order.map(identity)
  const rank = new Map(wanted.map((value, index) => [value, index]))
  const ordered = list
    .filter((item) => rank.has(identity(item) ?? null))
    .sort((a, b) => (rank.get(identity(a) ?? null) ?? 0) - (rank.get(identity(b) ?? null) ?? 0))
  const merged: Json[] = []
  let next = 0
  for (const item of list) {
    if (!rank.has(identity(item) ?? null)) merged.push(item)
    else {
      const placed = ordered[next++]
      if (placed !== undefined) merged.push(placed)
    }
  }
  result[key] = merged
}

function withoutDirectives(object: JsonObject): JsonObject {
  const plain: JsonObject = {}
  for (const [key, value] of Object.entries(object)) {
    if (
      key === patchDirective ||
      key === retainKeysDirective ||
      key.startsWith(orderPrefix) ||
      key.startsWith(deletePrefix) ||
      value === null
    )
      continue
    setKey(
      plain,
      key,
      isObject(value) ? withoutDirectives(value) : Array.isArray(value) ? withoutListDirectives(value) : value,
    )
  }
  return plain
}

function withoutListDirectives(list: readonly Json[]): Json[] {
  return list.flatMap((item): Json[] => {
    if (!isObject(item)) return [item]
    if (item[patchDirective] === "delete" || (item[patchDirective] === "replace" && Object.keys(item).length === 1))
      return []
    return [withoutDirectives(item)]
  })
}
