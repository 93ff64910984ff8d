// How a change of an object affects its managers: changed and added fields are taken from all other managers, removed fields lose
// their managers. Source: sigs.k8s.io/structured-merge-diff/v6/merge/update.go and k8s.io/apimachinery/pkg/util/
// managedfields/internal (structuredmerge.go, stripmeta.go, managedfieldsupdater.go).

import type { Json } from "../object.ts"
import { atOnce, type Steps } from "../steps.ts"
import { comparing } from "./compare.ts"
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  leaf,
  OfMany,
  partWithin,
  recursiveDifference,
  setOfFields,
  union,
  unionOf,
} from "./field-set.ts"
import { capUpdateManagers, entryNow, managerKey, type Managers, setFields } from "./managers.ts"
import type { MergeType } from "./merge-type.ts"
import { reconciled } from "./reconcile.ts"

/** Fields, by version, that the write cannot change, whatever the request contains: the writer does not become their manager. */
export type Reset = (apiVersion: string) => FieldSet | undefined

/** The writer, with its subresource and version. */
export interface Writer {
  manager: string
  apiVersion: string
  subresource: string
  /** RFC 3339, with seconds. */
  now: string
}

/** One change of an object, in one version. */
export interface Change {
  before: Json
  after: Json
  type: MergeType
  /** Both states were decoded into Go structs; false if one of them is an applied configuration. */
  areStructs?: boolean
  /** An applied configuration has been merged into the later state, and the result has not been decoded. */
  isMerged?: boolean
}

/** The change in another version; undefined if the version is no longer served. */
type ChangeIn = (apiVersion: string) => Change | undefined

/** Fields that never have managers. */
const unmanaged = setOfFields(
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((field) => ["metadata", field]),
)

export function manageable(set: FieldSet): FieldSet {
  return difference(set, unmanaged)
}

export function withoutReset(set: FieldSet, reset: FieldSet | undefined): FieldSet {
  return reset === undefined || set === leaf ? set : recursiveDifference(set, reset)
}

/**
 * Records a write other than apply: the writer becomes the manager of what it changed. Throws ListItemError if the states cannot be
 * compared. `changeIn` must support the writer's version and those of the managers.
 */
export function recordUpdate(managers: Managers, writer: Writer, changeIn: ChangeIn, reset: Reset): void {
  atOnce(recordingUpdate(managers, writer, changeIn, reset))
}

/** The same, as a generator of steps. */
export function* recordingUpdate(managers: Managers, writer: Writer, changeIn: ChangeIn, reset: Reset): Steps<void> {
  const { apiVersion, manager, subresource, now } = writer
  const compared = new Map<string, Changes>()
  const own = yield* changesIn(compared, apiVersion, changeIn, reset)
  if (own === undefined) throw new Error(`the state of ${apiVersion} is not known`)
  const of = operationsFor(managers)
  for (const [key, entry] of managers) {
    yield
    const change = yield* changesIn(compared, entry.apiVersion, changeIn, reset)
    if (change === undefined) {
      managers.delete(key)
      continue
    }
    const { fieldsV1 } = entry
    const left = of.difference(of.difference(fieldsV1, change.taken), change.removed)
    if (left !== fieldsV1 || isEmpty(left)) setFields(managers, key, { ...entry, fieldsV1: left })
  }
  const fields = manageable(own.taken)
  if (!isEmpty(fields)) {
    const self = { manager, operation: "Update", apiVersion, subresource } as const
    const key = managerKey(self)
    const present = managers.get(key)
    if (present !== undefined) yield
    managers.set(key, entryNow(self, present === undefined ? fields : union(fields, present.fieldsV1), now))
  }
  capUpdateManagers(managers)
}

/** Clients determine the number of managers: above this one, the change is not walked for each of them. */
const many = 16

const few = { difference, intersection }

function operationsFor(managers: Managers): Pick<OfMany, "difference" | "intersection"> {
  return managers.size > many ? new OfMany() : few
}

interface Changes {
  /** Modified and added fields. */
  taken: FieldSet
  removed: FieldSet
}

function* changesIn(
  known: Map<string, Changes>,
  apiVersion: string,
  changeIn: ChangeIn,
  reset: Reset,
): Steps<Changes | undefined> {
  let changes = known.get(apiVersion)
  if (changes !== undefined) return changes
  const change = changeIn(apiVersion)
  if (change === undefined) return undefined
  const { before, after, type } = change
  const { added, modified, removed } = yield* comparing(before, after, type, change)
  const fixed = reset(apiVersion)
  changes = { taken: withoutReset(union(modified, added), fixed), removed: withoutReset(removed, fixed) }
  known.set(apiVersion, changes)
  return changes
}

export interface Contest {
  /** Fields of other managers that this change takes, by managerKey. */
  conflicts: Map<string, FieldSet>
  /** The managers after the change. */
  managers: Managers
}

/**
 * What an apply takes from other managers, as a generator of steps. Only fields that others manage are compared. Throws like
 * recordUpdate.
 */
export function* contest(managers: Managers, self: string, changeIn: ChangeIn, reset: Reset): Steps<Contest> {
  const conflicts = new Map<string, FieldSet>()
  const after: Managers = new Map(managers)
  const known = new Map<string, Changes>()
  const others = othersOf(managers, self)
  const changeOfTheirs = (apiVersion: string): Change | undefined => {
    const change = changeIn(apiVersion)
    const theirs = others.get(apiVersion)
    if (change === undefined || theirs === undefined) return change
    return { ...change, before: partWithin(change.before, theirs), after: partWithin(change.after, theirs) }
  }
  const of = operationsFor(managers)
  for (const [key, entry] of managers) {
    if (key === self) {
      if (isEmpty(entry.fieldsV1)) after.delete(key)
      continue
    }
    yield
    const change = yield* changesIn(known, entry.apiVersion, changeOfTheirs, reset)
    if (change === undefined) {
      after.delete(key)
      continue
    }
    const { fieldsV1 } = entry
    const conflict = of.intersection(fieldsV1, change.taken)
    if (!isEmpty(conflict)) conflicts.set(key, conflict)
    const left = of.difference(of.difference(fieldsV1, change.taken), change.removed)
    if (left !== fieldsV1) setFields(after, key, { ...entry, fieldsV1: left })
  }
  return { conflicts, managers: after }
}

/** Fields of other managers, by their version. */
function othersOf(managers: Managers, self: string): Map<string, FieldSet> {
  const others = Map.groupBy(managers, ([key, entry]) => (key === self ? undefined : entry.apiVersion))
  others.delete(undefined)
  return new Map(
    [...others].map(([apiVersion, entries]) => [
      apiVersion ?? "",
      unionOf(entries.map(([, { fieldsV1 }]) => fieldsV1)),
    ]),
  )
}

/** Adapts sets to types that have changed since the sets were written, which is possible for custom resources. */
export function reconcileManagers(managers: Managers, typeIn: (apiVersion: string) => MergeType | undefined): void {
  for (const [key, entry] of managers) {
    const type = typeIn(entry.apiVersion)
    if (type === undefined) continue
    const fieldsV1 = reconciled(entry.fieldsV1, type)
    if (fieldsV1 !== entry.fieldsV1) managers.set(key, { ...entry, fieldsV1 })
  }
}
