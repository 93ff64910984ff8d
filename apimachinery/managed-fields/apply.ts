// Server-side apply: merges a configuration into an object, removes fields that its manager applied before and no longer applies, and
// computes the new managers. Source: sigs.k8s.io/structured-merge-diff/v6/merge/update.go (Apply)
// and k8s.io/apimachinery/pkg/util/managedfields/internal (skipnonapplied.go, lastappliedmanager.go).

import { equalJson } from "../equality.ts"
import type { Json } from "../object.ts"
import { isObject } from "../schema/json-object.ts"
import { badRequest } from "../status.ts"
import { inSteps } from "../steps.ts"
import { checkType } from "./configuration.ts"
import { describingConflicts } from "./conflicts.ts"
import { difference, type FieldSet, isEmpty } from "./field-set.ts"
import { gatheringFields } from "./fields-of.ts"
import { entryNow, entryOf, type ManagedFieldsEntry, managerKey, type Managers } from "./managers.ts"
import { merge } from "./merge.ts"
import type { MergeType } from "./merge-type.ts"
import {
  type Change,
  type Contest,
  contest,
  manageable,
  reconcileManagers,
  recordUpdate,
  type Reset,
  withoutReset,
  type Writer,
} from "./ownership.ts"
import { prune } from "./prune.ts"
import { during, type Versions } from "./versions.ts"

interface Application {
  /** The current object, in the writer's version and without managedFields. Not changed. */
  live: Json
  /** A new, empty object of the kind. */
  blank: Json
  managers: Managers
  configuration: Json
  writer: Writer
  force: boolean
  versions: Versions
  reset: Reset
  /**
   * Called when there are conflicts. Returns fields that cannot conflict, because the writer applied them with an older method before;
   * undefined if there was none.
   */
  excused?: (() => FieldSet | undefined) | undefined
  /** Called between steps that may take long for lists. Returns a promise to wait for, or undefined to continue at once. */
  pause?: (() => Promise<void> | undefined) | undefined
}

interface Applied {
  /** undefined if the configuration changes nothing. */
  object: Json | undefined
  managers: Managers
}

const beforeFirstApply = "before-first-apply"

/** Throws StatusError (409) for conflicts, TypeErrors for a configuration or an object that does not fit its type. */
export async function apply(application: Application): Promise<Applied> {
  const { live, writer, versions, configuration, pause } = application
  const type = typeOf(versions, writer.apiVersion)
  const managers = managersBefore(application, type)
  await pause?.()
  if (speaksOfManagers(configuration)) throw badRequest("metadata.managedFields must be nil")
  checkType(configuration, type)
  await pause?.()
  if (application.managers.size > 0) checkType(live, type, "live")
  await pause?.()
  const liveIn = await inEachVersion(application, managers)
  reconcileManagers(managers, (apiVersion) => versions.typeIn(apiVersion))
  await pause?.()
  const key = managerKey({ ...writer, operation: "Apply" })
  const last = managers.get(key)
  const given = await inSteps(gatheringFields(configuration, type, last?.fieldsV1), pause)
  const fields = withoutReset(given, application.reset(writer.apiVersion))
  managers.set(key, entryOf({ ...writer, operation: "Apply" }, fields, last?.time))
  await pause?.()
  const merged = merge(live, configuration, type) ?? {}
  await pause?.()
  const object =
    last === undefined || isAllKept(last, writer.apiVersion, fields)
      ? merged
      : await prune({ managers, last, versions, pause }, merged, writer.apiVersion)
  await pause?.()
  const outcome = await contested(application, managers, key, object, liveIn)
  if (outcome.conflicts.size > 0 && !application.force) await refuse(application, outcome, managers)
  await pause?.()
  const changed = !equalJson(live, object)
  setManaged(outcome.managers, key, changed ? writer.now : undefined)
  return { object: changed ? object : undefined, managers: outcome.managers }
}

function speaksOfManagers(configuration: Json): boolean {
  const { metadata = null } = isObject(configuration) ? configuration : {}
  const managers = isObject(metadata) ? metadata["managedFields"] : undefined
  // Upstream's accessor treats anything else as absent; the type check then rejects it.
  return Array.isArray(managers) && managers.every(isObject)
}

function typeOf(versions: Versions, apiVersion: string): MergeType {
  const type = versions.typeIn(apiVersion)
  if (type === undefined) throw new Error(`no type of ${apiVersion}`)
  return type
}

/** An object without managers gets one for its present fields. */
function managersBefore({ managers, live, blank, writer, reset }: Application, type: MergeType): Managers {
  const before: Managers = new Map(managers)
  if (before.size === 0) {
    checkType(live, type, "unmanaged")
    const change: Change = { before: blank, after: live, type }
    recordUpdate(before, { ...writer, manager: beforeFirstApply }, () => change, reset)
  }
  return before
}

function setManaged(managers: Managers, key: string, now: string | undefined): void {
  const entry = managers.get(key)
  if (entry === undefined) return
  const fields = manageable(entry.fieldsV1)
  if (isEmpty(fields)) managers.delete(key)
  else managers.set(key, now === undefined ? entryOf(entry, fields, entry.time) : entryNow(entry, fields, now))
}

/** The current object in every version in which its managers are recorded. */
async function inEachVersion({ live, writer, versions }: Application, managers: Managers): Promise<Map<string, Json>> {
  const known = new Map([[writer.apiVersion, live]])
  for (const { apiVersion } of managers.values()) {
    if (known.has(apiVersion) || versions.typeIn(apiVersion) === undefined) continue
    known.set(apiVersion, await versions.convert(live, writer.apiVersion, apiVersion))
  }
  return known
}

async function contested(
  { writer, versions, reset, pause }: Application,
  managers: Managers,
  key: string,
  object: Json,
  liveIn: ReadonlyMap<string, Json>,
): Promise<Contest> {
  const changes = new Map<string, Change>()
  for (const [apiVersion, before] of liveIn) {
    const type = versions.typeIn(apiVersion)
    if (type === undefined) continue
    const convert = () => versions.convert(object, writer.apiVersion, apiVersion)
    const after = await during("failed to convert new object", convert)
    changes.set(apiVersion, { before, after, type, isMerged: apiVersion === writer.apiVersion })
  }
  return inSteps(
    contest(managers, key, (apiVersion) => changes.get(apiVersion), reset),
    pause,
  )
}

/** Throws the conflict error, except for fields that the client applied with an older method before. */
async function refuse({ excused, pause }: Application, { conflicts }: Contest, managers: Managers): Promise<void> {
  const allowed = excused?.()
  const left = allowed === undefined ? conflicts : beyond(conflicts, allowed)
  if (left.size > 0) throw await inSteps(describingConflicts(left, managers), pause)
}

function beyond(conflicts: ReadonlyMap<string, FieldSet>, allowed: FieldSet): ReadonlyMap<string, FieldSet> {
  const left = new Map<string, FieldSet>()
  for (const [key, set] of conflicts) {
    const kept = difference(set, allowed)
    if (!isEmpty(kept)) left.set(key, kept)
  }
  return left
}

/** Everything that was applied last time is applied again, so nothing has to be removed. */
function isAllKept(last: ManagedFieldsEntry, apiVersion: string, fields: FieldSet): boolean {
  return last.apiVersion === apiVersion && isEmpty(difference(last.fieldsV1, fields))
}
