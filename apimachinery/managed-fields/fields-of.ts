// The fields in a configuration: its leaves, the items of its lists, and the keys of its maps. Source:
// sigs.k8s.io/structured-merge-diff/v6/typed/tofieldset.go.

import type { Json } from "../object.ts"
import { isEmptyObject, isObject, type JsonObject } from "../schema/json-object.ts"
import { atOnce, mostAtOnce, type Steps } from "../steps.ts"
import { type Draft, type FieldSet, isEmpty, leaf } from "./field-set.ts"
import { inOrder, puttingInOrder } from "./in-order.ts"
import { gatheringItems, isAlike, itemsByElement } from "./list-element.ts"
import { entryType, type ListType, type MapType, type MergeType, partOf } from "./merge-type.ts"
import { fieldElement, type PathElement, self } from "./path-element.ts"

/**
 * Parts that are equal in `like` are shared with it instead of copied: thousands of items then need not be sorted now or compared
 * later. Throws ListItemError for list items that cannot be distinguished.
 */
export function fieldsOf(value: Json, type: MergeType, like?: FieldSet): FieldSet {
  return atOnce(gatheringFields(value, type, like))
}

/** The same, as a generator of steps. */
export function* gatheringFields(value: Json, type: MergeType, like?: FieldSet): Steps<FieldSet> {
  const walk: Walk = { known: undefined, large: [] }
  let fields = fieldsAt(walk, value, type, false, like)
  if (walk.large.length > 0) {
    yield* gatheringLarge(walk)
    fields = fieldsAt(walk, value, type, false, like)
  }
  return fields ?? leaf
}

interface Walk {
  /** The large lists and maps whose sets are known. A value may be at several places. */
  known: Map<Json, KnownPlace[]> | undefined
  /** Those that the walk has come to and whose sets are not known. It does not look into them. */
  readonly large: LargePlace[]
}

interface LargePlace {
  value: Json[] | JsonObject
  type: MergeType
  member: boolean
  like: FieldSet | undefined
}

interface KnownPlace extends LargePlace {
  fields: FieldSet | undefined
}

/** After it, the walk knows them. */
function* gatheringLarge(walk: Walk): Steps<void> {
  const known = (walk.known = new Map<Json, KnownPlace[]>())
  for (let place = walk.large.at(-1); place !== undefined; place = walk.large.at(-1)) {
    const draft = yield* gatheringPlace(walk, place)
    // Others are in it: they come first.
    if (walk.large.at(-1) !== place) continue
    walk.large.pop()
    const fields = yield* finishing(draft, place)
    const same = known.get(place.value)
    if (same === undefined) known.set(place.value, [{ ...place, fields }])
    else same.push({ ...place, fields })
  }
}

function* gatheringPlace(walk: Walk, { value, type: { list, map }, member, like }: LargePlace): Steps<Draft> {
  const draft = begun(member, like)
  let count = 0
  if (Array.isArray(value) && list !== undefined) {
    const putItems = placing(walk, draft, list, like)
    for (const [element, items] of yield* gatheringItems(list, value)) {
      if (++count % mostAtOnce === 0) yield
      putItems(element, items)
    }
  } else if (isObject(value) && map !== undefined) {
    for (const name in value) {
      if (++count % mostAtOnce === 0) yield
      putEntry(walk, draft, name, value[name], map, like)
    }
  }
  yield
  return draft
}

function* finishing(draft: Draft, { member, like }: LargePlace): Steps<FieldSet | undefined> {
  if (isBare(draft)) return bare(member, like)
  return like !== undefined && isSame(draft, like) ? like : yield* puttingInOrder(draft)
}

/** The set at a place and below it; `member`: the place itself is a field, whatever it contains. undefined: the set is empty. */
function fieldsAt(
  walk: Walk,
  value: Json,
  type: MergeType,
  member: boolean,
  like: FieldSet | undefined,
): FieldSet | undefined {
  const part = partOf(type, value)
  const { map, list } = type
  if (part === "map" && map !== undefined && !map.atomic) {
    if (isObject(value)) {
      const names = Object.keys(value)
      if (names.length > mostAtOnce) return knownAt(walk, { value, type, member, like })
      return fieldsOfMap(walk, names, value, map, member, like)
    }
  } else if (part === "list" && list !== undefined && !list.atomic) {
    if (Array.isArray(value)) {
      if (value.length > mostAtOnce) return knownAt(walk, { value, type, member, like })
      return fieldsOfList(walk, value, list, member, like)
    }
  } else return leafLike(like)
  return bare(member, like)
}

function knownAt({ known, large }: Walk, place: LargePlace): FieldSet | undefined {
  const found = known
    ?.get(place.value)
    ?.find(({ type, member, like }) => type === place.type && member === place.member && like === place.like)
  if (found === undefined) large.push(place)
  return found?.fields
}

function fieldsOfMap(
  walk: Walk,
  names: readonly string[],
  map: JsonObject,
  type: MapType,
  member: boolean,
  like: FieldSet | undefined,
): FieldSet | undefined {
  const draft = begun(member, like)
  for (const name of names) putEntry(walk, draft, name, map[name], type, like)
  return finished(draft, member, like)
}

function putEntry(
  walk: Walk,
  draft: Draft,
  name: string,
  value: Json | undefined,
  type: MapType,
  like: FieldSet | undefined,
): void {
  if (value === undefined) return
  const element = fieldElement(name)
  const isMember = value === null || (isObject(value) && isEmptyObject(value)) || type.field(name) === undefined
  const found = fieldsAt(walk, value, entryType(type, name), isMember, like?.[element])
  if (found !== undefined) draft[element] = found
}

function fieldsOfList(
  walk: Walk,
  list: readonly Json[],
  type: ListType,
  member: boolean,
  like: FieldSet | undefined,
): FieldSet | undefined {
  const draft = begun(member, like)
  const putItems = placing(walk, draft, type, like)
  for (const [element, items] of itemsByElement(type, list)) putItems(element, items)
  return finished(draft, member, like)
}

/** Of one list. Consecutive items with the same scalar fields share their sets. `items`: those of one path element. */
function placing(
  walk: Walk,
  draft: Draft,
  { items: type }: ListType,
  like: FieldSet | undefined,
): (element: PathElement, items: readonly Json[]) => void {
  let last: { item: Json; set: FieldSet } | undefined
  return (element, items) => {
    const [item = null] = items
    const known = like?.[element]
    if (items.length > 1) draft[element] = leafLike(known)
    else if (last !== undefined && isAlike(item, last.item)) draft[element] = likeOf(known, last.set)
    else last = { item, set: (draft[element] = fieldsAt(walk, item, type, true, known) ?? leafLike(known)) }
  }
}

const begun = (member: boolean, like: FieldSet | undefined): Draft => (member ? { [self]: leafLike(like?.[self]) } : {})

function finished(draft: Draft, member: boolean, like: FieldSet | undefined): FieldSet | undefined {
  if (isBare(draft)) return bare(member, like)
  return like !== undefined && isSame(draft, like) ? like : inOrder(draft)
}

/** There is nothing below the place. */
function isBare(draft: Draft): boolean {
  for (const element in draft) if (element !== self) return false
  return true
}

function bare(member: boolean, like: FieldSet | undefined): FieldSet | undefined {
  return member ? leafLike(like) : undefined
}

function isSame(draft: Draft, like: FieldSet): boolean {
  let more = 0
  for (const element in draft) {
    if (like[element] !== draft[element]) return false
    more++
  }
  for (const _ in like) more--
  return more === 0
}

/** The known set if it has the same fields as the given one, which has no others below them. */
function likeOf(known: FieldSet | undefined, set: FieldSet): FieldSet {
  if (known === undefined || known === set) return set
  let more = 0
  for (const element in set) {
    const below = known[element]
    if (below === undefined || !isEmpty(below)) return set
    more++
  }
  for (const _ in known) more--
  return more === 0 ? known : set
}

const leafLike = (like: FieldSet | undefined): FieldSet => (like !== undefined && isEmpty(like) ? like : leaf)
