// Removes the fields that a manager applied before and no longer applies. Source: sigs.k8s.io/structured-merge-diff/v6/merge/update.go
// (prune, addBackOwnedItems, addBackDanglingItems).

import type { Json } from "../object.ts"
import { inSteps } from "../steps.ts"
import { difference, type FieldSet, intersection, isEmpty, union, unionOf } from "./field-set.ts"
import { gatheringFields } from "./fields-of.ts"
import type { ManagedFieldsEntry, Managers } from "./managers.ts"
import { removeFields } from "./merge.ts"
import type { MergeType } from "./merge-type.ts"
import { withNamedFields } from "./reconcile.ts"
import { during, type Versions } from "./versions.ts"

interface Pruning {
  /** They contain what the manager applies now. */
  managers: Managers
  /** What it applied last time. */
  last: ManagedFieldsEntry
  versions: Versions
  /** Called between steps, as that of an application. */
  pause?: (() => Promise<void> | undefined) | undefined
}

/** The merged object without the fields that the manager applied last time, does not apply now, and nobody else manages. */
export async function prune(pruning: Pruning, merged: Json, apiVersion: string): Promise<Json> {
  const { last, versions } = pruning
  if (isEmpty(last.fieldsV1)) return merged
  const lastType = versions.typeIn(last.apiVersion)
  if (lastType === undefined) return merged
  const whole: InVersion = {
    object: await during(`${attempt}: failed to convert merged object to last applied version`, () =>
      versions.convert(merged, apiVersion, last.apiVersion),
    ),
    apiVersion: last.apiVersion,
  }
  const without = removeFields(whole.object, withNamedFields(last.fieldsV1, lastType), lastType)
  const owned = await withOwned(pruning, whole, { ...whole, object: without })
  const left = await inVersion(owned, last.apiVersion, versions)
  const result = await withDangling(pruning, whole.object, left, last.fieldsV1, lastType)
  return during(attempt, () => versions.convert(result, last.apiVersion, apiVersion))
}

const attempt = "failed to prune fields"

interface InVersion {
  object: Json
  apiVersion: string
}

async function inVersion({ object, apiVersion }: InVersion, to: string, versions: Versions): Promise<Json> {
  return apiVersion === to ? object : versions.convert(object, apiVersion, to)
}

/** Restores fields that any manager owns. The pruned version comes first, because conversions may need what was removed. */
async function withOwned(pruning: Pruning, whole: InVersion, without: InVersion): Promise<InVersion> {
  const { managers, versions } = pruning
  const byVersion = new Map<string, FieldSet[]>([[whole.apiVersion, []]])
  for (const { apiVersion, fieldsV1 } of managers.values()) {
    const sets = byVersion.get(apiVersion)
    if (sets === undefined) byVersion.set(apiVersion, [fieldsV1])
    else sets.push(fieldsV1)
  }
  let left = without
  for (const [apiVersion, sets] of byVersion) {
    const type = versions.typeIn(apiVersion)
    if (type === undefined) continue
    const convert = (which: string, object: InVersion) =>
      during(
        `${attempt}: failed add back owned items: failed to convert ${which} object at version ${apiVersion}`,
        () => inVersion(object, apiVersion, versions),
      )
    const all = await convert("merged", whole)
    const some = await convert("pruned", left)
    const kept = union(await fieldsIn(pruning, some, type), withNamedFields(unionOf(sets), type))
    const gone = difference(await fieldsIn(pruning, all, type), kept)
    left = { object: removeFields(all, gone, type), apiVersion }
  }
  return left
}

/** Restores fields that the manager did not apply last time, but that are below fields it applied: unmanaged ones, and those of updates. */
async function withDangling(pruning: Pruning, whole: Json, left: Json, last: FieldSet, type: MergeType): Promise<Json> {
  const gone = difference(await fieldsIn(pruning, whole, type), await fieldsIn(pruning, left, type))
  return removeFields(whole, intersection(gone, withNamedFields(last, type)), type)
}

async function fieldsIn({ pause }: Pruning, value: Json, type: MergeType): Promise<FieldSet> {
  return withNamedFields(await inSteps(gatheringFields(value, type), pause), type)
}
