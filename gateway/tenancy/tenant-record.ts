// The record of a tenant outside its own store: about a kilobyte, in the gateway's store under "/tenants/<name>".

import { errorMessage } from "../../apimachinery/error-message.ts"
import { timestamp } from "../../apimachinery/object.ts"
import type { Tenant, TenantIdentity } from "../../client/tenants.ts"
import type { KeyValue, Revision, Store, StoreEvent, Watcher } from "../../storage/types.ts"
import { spareKey } from "../stores/spare-store.ts"

export interface TenantRecord {
  tenant: Tenant
  /** RFC 3339: creation time of its bootstrap objects. */
  createdAt: string
  /** deleting: nobody has it any more, and each start tries to remove what remains of it. */
  state: "active" | "deleting"
  /** The issuer of its service account tokens. */
  issuer: string
  /** Set once its store has been opened, which makes its first write and flushes it: a store that is missing or empty is damage then. */
  isStored?: boolean
}

const prefix = "/tenants/"

/** Of a new tenant. */
export function newRecord(request: Omit<Tenant, "uid">, uid: string, issuer: string): TenantRecord {
  return { tenant: { ...request, uid }, createdAt: timestamp(), state: "active", issuer }
}

/** All records, and the revision that was read. */
export async function readRecords(store: Store): Promise<{ records: TenantRecord[]; revision: Revision }> {
  const { items, revision } = await store.range(prefix)
  return { records: items.map(parse), revision }
}

/** The same as changes, without records that cannot be read, of whose names nothing is known then. */
export async function readChanges(store: Store, unreadable: Unreadable): Promise<RecordChanges> {
  const { items, revision } = await store.range(prefix)
  const changes = new Map<string, RecordChange>()
  const unknown = new Set<string>()
  for (const item of items) {
    const name = nameIn(item)
    const record = readable(item, unreadable)
    if (record === undefined) unknown.add(name)
    else changes.set(name, { record, revision })
  }
  return { changes, unknown, revision }
}

interface RecordChanges {
  changes: ReadonlyMap<string, RecordChange>
  unknown: ReadonlySet<string>
  revision: Revision
}

/** Is told of a record that cannot be read. */
type Unreadable = (name: string, error: unknown) => void

function readable(item: KeyValue, unreadable: Unreadable): TenantRecord | undefined {
  try {
    return parse(item)
  } catch (error) {
    unreadable(nameIn(item), error)
    return undefined
  }
}

function nameIn({ key }: KeyValue): string {
  return key.slice(prefix.length)
}

/** Parses values of the gateway's store that the consistency check has read. */
export function recordsOf(values: ReadonlyMap<string, Uint8Array>): { records: TenantRecord[]; faults: string[] } {
  const records: TenantRecord[] = []
  const faults: string[] = []
  for (const [key, value] of values) {
    if (!key.startsWith(prefix)) continue
    try {
      const record = recordIn(value)
      if (prefix + record.tenant.name === key) records.push(record)
      else faults.push(`the record "${key}" is of tenant "${record.tenant.name}"`)
    } catch (error) {
      faults.push(`the record "${key}" cannot be read: ${errorMessage(error)}`)
    }
  }
  return { records, faults }
}

/** Changes of records by all gateways, including this one. */
export function watchRecords(store: Store, after: Revision): Watcher {
  return store.watch(prefix, { after })
}

/** The current record of a name, which is undefined if it was deleted, and as of when. */
export interface RecordChange {
  record: TenantRecord | undefined
  revision: Revision
}

/** The record after an event; no change if it cannot be read. */
export function changedRecord(
  { type, current }: StoreEvent,
  unreadable: Unreadable,
): { name: string; change: RecordChange | undefined } {
  const record = type === "put" ? readable(current, unreadable) : undefined
  const isKnown = type !== "put" || record !== undefined
  return { name: nameIn(current), change: isKnown ? { record, revision: current.modRevision } : undefined }
}

export async function readRecord(store: Store, name: string): Promise<TenantRecord | undefined> {
  const found = await store.get(prefix + name)
  return found && parse(found)
}

/** `present`: the existing record, if the record was not written. */
interface Creation {
  revision: Revision
  present?: TenantRecord
}

export async function createRecord(store: Store, record: TenantRecord): Promise<Creation> {
  const key = prefix + record.tenant.name
  const result = await store.txn({
    compare: [{ key, modRevision: 0 }],
    operations: [
      { type: "put", key, value: Buffer.from(JSON.stringify(record)) },
      // Its store may have been prepared in advance.
      { type: "delete", key: spareKey(record.tenant.uid) },
    ],
  })
  const { revision } = result
  if (result.succeeded) return { revision }
  const [present] = result.current
  if (present === undefined) throw new Error(`record of tenant ${record.tenant.name}: neither written nor there`)
  return { revision, present: parse(present) }
}

/**
 * As createRecord(), for a name that no known tenant has: a record that is there was left by a creation or deletion that failed, and is first
 * removed with all that belongs to it. `isShared`: other gateways create tenants, too, so an active record is that of an existing one.
 */
export async function createRecordAnew(
  store: Store,
  record: TenantRecord,
  { isShared, remove }: { isShared: boolean; remove: (left: TenantRecord) => Promise<void> },
): Promise<Creation> {
  for (;;) {
    const creation = await createRecord(store, record)
    const { present } = creation
    if (present === undefined || (isShared && present.state === "active")) return creation
    await remove(present)
  }
}

/**
 * Replaces the tenant's record; undefined removes it. Does nothing if there is no record, or that of another tenant. Returns the
 * revision of what it did.
 */
export async function replaceRecord(
  store: Store,
  { name, uid }: Tenant,
  record?: TenantRecord,
): Promise<Revision | undefined> {
  const key = prefix + name
  for (let found = await store.get(key); found !== undefined && parse(found).tenant.uid === uid;) {
    const result = await store.txn({
      compare: [{ key, modRevision: found.modRevision }],
      operations: [record ? { type: "put", key, value: Buffer.from(JSON.stringify(record)) } : { type: "delete", key }],
    })
    if (result.succeeded) return result.revision
    found = result.current[0]
  }
  return undefined
}

/** From now on the tenant is being deleted, which each start tries to complete. Returns the revision of what it did. */
export function condemnRecord(store: Store, record: TenantRecord): Promise<Revision | undefined> {
  return replaceRecord(store, record.tenant, { ...record, state: "deleting" })
}

export function markStored(record: TenantRecord): void {
  record.isStored = true
}

/** Returns false if the tenant does not exist or is being deleted. */
export function recordStored(store: Store, tenant: TenantIdentity): Promise<boolean> {
  return changeRecord(store, tenant, markStored)
}

/** Returns false if the tenant does not exist or is being deleted. */
export async function changeRecord(
  store: Store,
  { name, uid }: TenantIdentity,
  change: (record: TenantRecord) => void,
): Promise<boolean> {
  const key = prefix + name
  for (let found = await store.get(key); found !== undefined;) {
    const record = parse(found)
    if (record.tenant.uid !== uid || record.state !== "active") return false
    change(record)
    const value = Buffer.from(JSON.stringify(record))
    if (value.equals(found.value)) return true
    const result = await store.txn({
      compare: [{ key, modRevision: found.modRevision }],
      operations: [{ type: "put", key, value }],
    })
    if (result.succeeded) return true
    found = result.current[0]
  }
  return false
}

/** Throws for a record that is another tenant's: what is done with it would be done to that one's data. */
function parse({ key, value }: Pick<KeyValue, "key" | "value">): TenantRecord {
  const record = recordIn(value)
  const { name } = record.tenant
  if (prefix + name !== key) throw new Error(`the record "${key}" is damaged: it is of tenant "${name}"`)
  return record
}

function recordIn(value: Uint8Array): TenantRecord {
  return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()) as TenantRecord
}
