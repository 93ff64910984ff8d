// A set of fields in the format of FieldsV1, so that the parsed JSON is a set already, and a set is serialized as part of
// the object:
//
//   { "f:metadata": { "f:labels": { ".": {}, "f:app": {} } } }     metadata.labels and metadata.labels.app
//
// A place is a member if it is empty or contains "."; keys are in compareElements' order, "." first. Sets are immutable: operations
// do not change their arguments, and results share unchanged parts. Source of the operations' semantics:
// sigs.k8s.io/structured-merge-diff/v6/fieldpath (set.go).

import type { Json } from "../object.ts"
import { isObject, type JsonObject, ownValue, setOwn } from "../schema/json-object.ts"
import { inOrder } from "./in-order.ts"
import { fieldElement, type PathElement, self } from "./path-element.ts"

export interface FieldSet {
  readonly [element: PathElement]: FieldSet
}

/** A set under construction. */
export type Draft = { [element: PathElement]: FieldSet }

/** A member with no members below it; also the empty set. */
export const leaf: FieldSet = Object.freeze({})

/** The set of the given paths, each a list of field names. */
export function setOfFields(...paths: readonly (readonly string[])[]): FieldSet {
  return setOfPaths(...paths.map((path) => path.map(fieldElement)))
}

export function setOfPaths(...paths: readonly (readonly PathElement[])[]): FieldSet {
  return unionOf(paths.map(chain))
}

function chain(path: readonly PathElement[]): FieldSet {
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), leaf)
}

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false
  return true
}

/** Whether the place itself is in the set, whatever is below it. */
function isMember(place: FieldSet): boolean {
  return Object.hasOwn(place, self) || isEmpty(place)
}

export function has(set: FieldSet, path: readonly PathElement[]): boolean {
  let at: FieldSet = set
  for (const element of path) {
    const next = at[element]
    if (next === undefined) return false
    at = next
  }
  return path.length > 0 && isMember(at)
}

/** The set below a place. */
export function below(set: FieldSet, element: PathElement): FieldSet {
  const place = set[element]
  if (place === undefined || !Object.hasOwn(place, self)) return place ?? leaf
  const { [self]: _, ...rest } = place
  return rest
}

export function hasElement(set: FieldSet, element: PathElement): boolean {
  const place = set[element]
  return place !== undefined && isMember(place)
}

/** A place from its membership and the set below it; undefined if it is neither a member nor has members below it. */
export function place(member: boolean, children: FieldSet): FieldSet | undefined {
  if (!member) return isEmpty(children) ? undefined : children
  return isEmpty(children) ? leaf : { [self]: leaf, ...children }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  const result: Draft = { ...a }
  let added = false
  for (const element in b) {
    const [mine, theirs] = [a[element], b[element]]
    if (theirs === undefined) continue
    if (mine === undefined) {
      result[element] = theirs
      added = true
    } else if (element !== self) result[element] = unionPlaces(mine, theirs)
  }
  return added ? inOrder(result) : result
}

/** Union of many sets, computed in pairs, so that each set is not walked again for every other one. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let left = sets
  while (left.length > 1) {
    const pairs: FieldSet[] = []
    for (let at = 0; at < left.length; at += 2) pairs.push(union(left[at] ?? leaf, left[at + 1] ?? leaf))
    left = pairs
  }
  return left[0] ?? leaf
}

export function unionPlaces(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (isEmpty(a)) return isMember(b) ? b : { [self]: leaf, ...b }
  if (isEmpty(b)) return isMember(a) ? a : { [self]: leaf, ...a }
  return union(a, b)
}

/** Members of both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectionBy(isMember, a, b)
}

function intersectionBy(isMemberOfB: (place: FieldSet) => boolean, a: FieldSet, b: FieldSet): FieldSet {
  const result: Draft = {}
  for (const element in a) {
    const [mine, theirs] = [a[element], b[element]]
    if (mine === undefined || theirs === undefined || element === self) continue
    const found = place(isMember(mine) && isMemberOfB(theirs), intersectionBy(isMemberOfB, mine, theirs))
    if (found !== undefined) result[element] = found
  }
  return result
}

/** Members of `a` that are not in `b`. Removing a place keeps what is below it, and vice versa. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, plainly)
}

/**
 * Intersection and difference of many sets with one, which may be larger than all of them and is therefore not walked for each of
 * them, not even to check whether it is empty.
 */
export class OfMany {
  readonly #members = new Map<FieldSet, boolean>()

  intersection(a: FieldSet, b: FieldSet): FieldSet {
    return intersectionBy(this.#isMember, a, b)
  }

  difference(a: FieldSet, b: FieldSet): FieldSet {
    return subtract(a, b, { recursive: false, walksMine: true, isMember: this.#isMember })
  }

  readonly #isMember = (place: FieldSet): boolean => {
    let known = this.#members.get(place)
    if (known === undefined) this.#members.set(place, (known = isMember(place)))
    return known
  }
}

/** Like difference, but removing a place also removes everything below it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, recursively)
}

interface Subtraction {
  recursive: boolean
  /** Walks the first set. Usually the second one, of members to remove, is smaller. */
  walksMine: boolean
  /** Membership in the set of members to remove. */
  isMember: (place: FieldSet) => boolean
}

const plainly: Subtraction = { recursive: false, walksMine: false, isMember }
const recursively: Subtraction = { recursive: true, walksMine: false, isMember }

function subtract(a: FieldSet, b: FieldSet, how: Subtraction): FieldSet {
  let changed: Map<PathElement, FieldSet | undefined> | undefined
  for (const element in how.walksMine ? a : b) {
    const [mine, theirs] = [a[element], b[element]]
    if (mine === undefined || theirs === undefined || element === self) continue
    const left = subtractPlace(mine, theirs, how)
    if (left !== mine) (changed ??= new Map()).set(element, left)
  }
  return changed === undefined ? a : replaced(a, changed)
}

/** Creates a new object instead of deleting from a copy: V8 makes objects slow after a deletion. undefined: removed. */
function replaced(set: FieldSet, changed: ReadonlyMap<PathElement, FieldSet | undefined>): FieldSet {
  const result: Draft = {}
  for (const element in set) {
    const place = changed.has(element) ? changed.get(element) : set[element]
    if (place !== undefined) result[element] = place
  }
  return result
}

function subtractPlace(mine: FieldSet, theirs: FieldSet, how: Subtraction): FieldSet | undefined {
  if (mine === theirs) return undefined
  const taken = how.isMember(theirs)
  if (taken && how.recursive) return undefined
  const left = subtract(mine, theirs, how)
  if (!taken || !isMember(mine)) {
    // A place that only leads to members is removed with the last of them; a member remains one without what was below it.
    if (left === mine) return mine
    return isEmpty(left) ? undefined : onlySelf(left)
  }
  const { [self]: _, ...rest } = left
  return isEmpty(rest) ? undefined : rest
}

function onlySelf(place: FieldSet): FieldSet {
  for (const element in place) if (element !== self) return place
  return leaf
}

/**
 * The part of a value that the set contains: fields that are members or lead to members. Members are kept completely, and so are
 * lists.
 */
export function partWithin(value: Json, set: FieldSet): Json {
  if (!isObject(value) || isMember(set)) return value
  const part: JsonObject = {}
  for (const element in set) {
    if (!element.startsWith("f:")) return value
    const name = element.slice(2)
    const [inner, place] = [ownValue(value, name), set[element]]
    if (inner !== undefined && place !== undefined) setOwn(part, name, partWithin(inner, place))
  }
  return part
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  let count = 0
  for (const element in a) {
    const [mine, theirs] = [a[element], b[element]]
    if (mine === undefined || theirs === undefined || !equalSets(mine, theirs)) return false
    count++
  }
  for (const _ in b) count--
  return count === 0
}

/** The paths of all members; those of a level before those below it. */
export function* paths(set: FieldSet, prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  for (const element in set) {
    if (element !== self && hasElement(set, element)) yield [...prefix, element]
  }
  for (const element in set) {
    const child = set[element]
    if (element !== self && child !== undefined) yield* paths(child, [...prefix, element])
  }
}
