// Lists in a strategic merge patch: merging by key or as sets, and the order of the result. The order of the patch (or of its
// $setElementOrder) takes precedence over that of the current list; items that only the list has are inserted in between. Source:
// k8s.io/apimachinery/pkg/util/strategicpatch (mergeSlice, normalizeElementOrder).

import { isObject, type JsonObject } from "../schema/json-object.ts"
import { printGo } from "../go/print.ts"
import type { Json } from "../object.ts"
import { isInteger } from "../schema/exact-integers.ts"
import { patchRejected, unexplained } from "../status.ts"
import { noMergeKey, notOfKind, patchDirective, unknownDirective } from "./strategic-merge-directives.ts"

/**
 * How the items of a list merge: the merge key (undefined: as a set), and the function that merges two items with the same key.
 */
export interface ListMerge {
  mergeKey: string | undefined
  mergeItems(current: JsonObject, patch: JsonObject): JsonObject
  /** Go's kind of the item type, for messages. */
  itemKind: string
}

/** `deletes`: the scalars of the patch are removed from the list. Objects of such a patch are merged as usual. */
export function mergeLists(current: Json[], patch: Json[], how: ListMerge, deletes = false): Json[] {
  const kind = elementKind(current, patch)
  if (kind === undefined) return current
  if (kind === "scalar" && deletes) return without(current, new Set(patch))
  if (kind === "scalar") return arrange([...new Set([...current, ...patch])], patch, current, undefined)
  const { mergeKey } = how
  if (mergeKey === undefined) throw unexplained(`cannot merge lists without merge key for ${how.itemKind}`)
  const outcome = mergeByKey(current.filter(isObject), patch.filter(isObject), mergeKey, how)
  return outcome.replaced ? outcome.merged : arrange(outcome.merged, outcome.wanted, current, mergeKey)
}

function without(list: readonly Json[], deleted: ReadonlySet<Json>): Json[] {
  return list.filter((item) => !deleted.has(item))
}

/** All items must have the same type, and the first must not be a list. */
function elementKind(...lists: readonly Json[][]): "map" | "scalar" | undefined {
  let kind: string | undefined
  for (const item of lists.flat()) {
    if (kind === undefined && Array.isArray(item)) throw patchRejected(new Error("lists of lists are not supported"))
    const found = goKind(item)
    if (kind !== undefined && kind !== found) {
      throw unexplained(`list element types are not identical: ${printGo(lists as Json)}`)
    }
    kind = found
  }
  return kind === undefined || kind === "map" ? kind : "scalar"
}

function goKind(item: Json): string {
  if (typeof item === "number" && !isInteger(item)) return "float64"
  return Array.isArray(item) ? "list" : isObject(item) ? "map" : typeof item === "bigint" ? "number" : typeof item
}

/** `wanted`: the patch's items without directives. */
function mergeByKey(
  current: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
  how: ListMerge,
): { merged: Json[]; wanted: Json[]; replaced: boolean } {
  const wanted: JsonObject[] = []
  const deleted = new Set<Json>()
  let replace = false
  for (const item of patch) {
    const directive = item[patchDirective]
    if (directive === undefined) wanted.push(item)
    else if (directive === "replace") replace = true
    else if (directive === "merge") throw unexplained("merging lists cannot yet be specified in the patch")
    else if (directive === "delete") deleted.add(keyOf(item, mergeKey))
    else throw unknownDirective(directive, item)
  }
  for (const item of wanted) keyOf(item, mergeKey)
  if (replace) return { merged: wanted, wanted, replaced: true }
  const merged = deleted.size === 0 ? [...current] : current.filter((item) => !deleted.has(keyOf(item, mergeKey)))
  // Items may share a key (such as ports with two protocols): the first one is merged.
  const first = new Map<Json, number>()
  merged.forEach((item, index) => {
    const key = keyOf(item, mergeKey)
    if (!first.has(key)) first.set(key, index)
  })
  for (const item of wanted) {
    const key = keyOf(item, mergeKey)
    const at = first.get(key)
    const found = at === undefined ? undefined : merged[at]
    if (at === undefined || found === undefined) first.set(key, merged.push(item) - 1)
    else merged[at] = how.mergeItems(found, item)
  }
  return { merged, wanted, replaced: false }
}

function keyOf(item: JsonObject, mergeKey: string): Json {
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
  return item[mergeKey] ?? null
}

/** The patch's items must be in the order of the directive, which must contain all of them. */
export function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  if (order.length === 0) return
  const identity = identityBy(mergeKey)
  const items = patch.filter((item) => !isObject(item) || item[patchDirective] !== "delete")
  let at = 0
  let next = 0
  // As in upstream, a directive that remains after the order has been consumed is a mismatch.
  while (at < items.length && next < order.length) {
    const item = items[at] ?? null
    if (isObject(item) && Object.hasOwn(item, patchDirective)) at++
    else if (identity(item) === identity(order[next++] ?? null)) at++
  }
  if (at < items.length) {
    throw unexplained(
      `The order in patch list:\n${printGo([...patch])}\n doesn't match $setElementOrder list:\n${printGo([...order])}\n`,
    )
  }
}

/**
 * Items named by `order` are in its order, the others in their order in `current`; each of the others is placed before the first
 * named item that followed it in `current`.
 */
export function arrange(
  items: readonly Json[],
  order: readonly Json[],
  current: readonly Json[],
  mergeKey: string | undefined,
): Json[] {
  const identity = identityBy(mergeKey)
  const rank = (list: readonly Json[]): ((item: Json) => number | undefined) => {
    const ranks = new Map<Json, number>()
    list.forEach((item, index) => {
      const key = identity(item)
      if (!ranks.has(key)) ranks.set(key, index)
    })
    return (item) => ranks.get(identity(item))
  }
  const inOrder = rank(order)
  const inCurrent = rank(current)
  const by = (ranked: (item: Json) => number | undefined) => (a: Json, b: Json) => (ranked(a) ?? 0) - (ranked(b) ?? 0)
  const named = items.filter((item) => inOrder(item) !== undefined).sort(by(inOrder))
  const others = items.filter((item) => inOrder(item) === undefined).sort(by(inCurrent))
  const result: Json[] = []
  let next = 0
  for (const item of named) {
    const place = inCurrent(item)
    for (let other = others[next]; other !== undefined; other = others[next]) {
      const otherPlace = inCurrent(other)
      if (place === undefined || otherPlace === undefined || otherPlace >= place) break
      result.push(other)
      next++
    }
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

function identityBy(mergeKey: string | undefined): (item: Json) => Json {
  return (item) => {
    if (mergeKey === undefined) return item
    if (!isObject(item)) throw notOfKind("map[string]interface {}", item)
    return keyOf(item, mergeKey)
  }
}
