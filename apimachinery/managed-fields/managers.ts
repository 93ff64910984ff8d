// Converts metadata.managedFields to a table of managers and back. Source: k8s.io/apimachinery/pkg/util/managedfields/internal
// (managedfields.go, capmanagers.go).

import { canonicalSet } from "./canonical-set.ts"
import { equalSets, type FieldSet, isEmpty, unionOf } from "./field-set.ts"
import { compareText } from "../go/text-order.ts"

export type Operation = "Apply" | "Update"

/** One entry in its wire format, with upstream's order of keys. */
export interface ManagedFieldsEntry {
  manager?: string
  operation: Operation
  apiVersion: string
  /** null: that of Go which is not set, as a client gave it for a kind that is no custom resource. */
  time?: string | null
  fieldsType: "FieldsV1"
  fieldsV1: FieldSet
  subresource?: string
}

/** Entries by managerKey. */
export type Managers = Map<string, ManagedFieldsEntry>

type Writer = Pick<ManagedFieldsEntry, "manager" | "operation" | "apiVersion" | "subresource">

/** Identifies a manager. For Apply entries, the version is not part of the identity. */
export function managerKey({ manager, operation, apiVersion, subresource }: Writer): string {
  return JSON.stringify({
    ...(manager ? { manager } : {}),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource ? { subresource } : {}),
  })
}

/** For entries that this module has written; they are not checked. */
export function managersOf(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers: Managers = new Map()
  for (const entry of entries ?? []) managers.set(managerKey(entry), entry)
  return managers
}

/** As clients write the time of Go that is not set. */
const unset = "0001-01-01T00:00:00Z"

/**
 * For entries from a client, which may be without fields. Throws SyntaxError with upstream's messages if they are invalid. `isCustom`: of
 * a custom resource.
 */
export function parseManagers(entries: readonly unknown[], isCustom = false): Managers {
  const managers: Managers = new Map()
  for (const [index, given] of entries.entries()) {
    const { operation, apiVersion, fieldsType, fieldsV1, ...rest } = given as Partial<ManagedFieldsEntry>
    if (operation !== "Apply" && operation !== "Update") {
      throw new SyntaxError("operation must be `Apply` or `Update`")
    }
    if (!apiVersion) throw new SyntaxError("apiVersion must not be empty")
    if (!fieldsType) throw new SyntaxError(`missing fieldsType in managed fields entry ${index}`)
    if (fieldsType !== "FieldsV1") {
      throw new SyntaxError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`)
    }
    const time = rest.time === unset ? (isCustom ? undefined : null) : rest.time
    const entry = entryOf({ ...rest, operation, apiVersion }, canonicalSet(fieldsV1 ?? {}), time)
    managers.set(managerKey(entry), entry)
  }
  return managers
}

export function entryOf(writer: Writer, fieldsV1: FieldSet, time: ManagedFieldsEntry["time"]): ManagedFieldsEntry {
  const { manager, operation, apiVersion, subresource } = writer
  return {
    ...(manager ? { manager } : {}),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1,
    ...(subresource ? { subresource } : {}),
  }
}

/** Entries of the writes that made them. */
const timed = new WeakSet<ManagedFieldsEntry>()

/** The entry of a manager who writes now. Upstream has its time with nanoseconds until it is stored, and so another one than it prints. */
export function entryNow(writer: Writer, fieldsV1: FieldSet, now: string): ManagedFieldsEntry {
  const entry = entryOf(writer, fieldsV1, now)
  timed.add(entry)
  return entry
}

export const isTimedNow = (entry: ManagedFieldsEntry): boolean => timed.has(entry)

/** undefined if there are no managers. */
export function entriesOf(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined
  const entries = [...managers.values()]
  return entries.length === 1 ? entries : entries.sort(compareEntries)
}

/** When an entry without a time was written. */
const epoch = "1970-01-01T00:00:00Z"

const timeOf = ({ time }: ManagedFieldsEntry): string => (time === null ? unset : (time ?? epoch))

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(timeOf(a), timeOf(b)) ||
    compareText(a.manager ?? "", b.manager ?? "") ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? "", b.subresource ?? "")
  )
}

/** Whether a client requests the removal of all managers: by an empty list, or one empty entry. */
export function isReset(entries: readonly unknown[]): boolean {
  const [only] = entries
  return entries.length === 0 || (entries.length === 1 && Object.keys(only as object).length === 0)
}

/** Whether the entries are equal; `times` determines whether timestamps matter. */
export function equalEntries(
  a: readonly ManagedFieldsEntry[],
  b: readonly ManagedFieldsEntry[],
  times: "compare" | "ignore" = "compare",
): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  return a.every((entry, index) => {
    const other = b[index]
    if (entry === other) return true
    return (
      other !== undefined &&
      entry.manager === other.manager &&
      entry.operation === other.operation &&
      entry.apiVersion === other.apiVersion &&
      entry.subresource === other.subresource &&
      entry.fieldsType === other.fieldsType &&
      (times === "ignore" || entry.time === other.time) &&
      equalSets(entry.fieldsV1, other.fieldsV1)
    )
  })
}

/** If there are more Update entries, the oldest are merged into one per version. */
const maxUpdateManagers = 10
const oldUpdates = "ancient-changes"

export function capUpdateManagers(managers: Managers): void {
  const updates = [...managers].filter(([, { operation }]) => operation === "Update")
  let left = updates.length
  if (left <= maxUpdateManagers) return
  updates.sort(([a, x], [b, y]) => compareText(timeOf(x), timeOf(y)) || compareText(a, b))
  const firstOf = new Map<string, string>()
  const buckets = new Map<string, Bucket>()
  for (const [key, entry] of updates) {
    if (left <= maxUpdateManagers) break
    const { apiVersion } = entry
    const first = firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, key)
      continue
    }
    const writer: Writer = { manager: oldUpdates, operation: "Update", apiVersion }
    const bucketKey = managerKey(writer)
    let bucket = buckets.get(bucketKey)
    if (bucket === undefined) {
      const present = managers.has(bucketKey) ? bucketKey : first
      bucket = { writer, time: undefined, sets: [managers.get(present)?.fieldsV1 ?? entry.fieldsV1] }
      buckets.set(bucketKey, bucket)
      managers.delete(present)
    }
    managers.delete(key)
    left--
    // Upstream merges an earlier bucket that is not the oldest into itself, and deletes it.
    if (key === bucketKey) buckets.delete(bucketKey)
    bucket.sets.push(entry.fieldsV1)
    bucket.time = entry.time
  }
  for (const [key, { writer, time, sets }] of buckets) managers.set(key, entryOf(writer, unionOf(sets), time))
}

/** Merged into one entry after all sets are collected, because a client may have written any number of entries. */
interface Bucket {
  writer: Writer
  /** The timestamp of the last merged entry, which is the latest. */
  time: ManagedFieldsEntry["time"]
  sets: FieldSet[]
}

/** Replaces the fields of a manager; a manager without fields is removed. */
export function setFields(managers: Managers, key: string, entry: ManagedFieldsEntry): void {
  if (isEmpty(entry.fieldsV1)) managers.delete(key)
  else managers.set(key, entry)
}
