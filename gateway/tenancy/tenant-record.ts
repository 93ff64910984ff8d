// What is kept of a tenant outside its own store: about a kilobyte, in the gateway's store under "/tenants/<name>".

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { KeyValue, Revision, Store, StoreEvent, Watcher } from "../../storage/types.ts"
import { spareKey } from "./spare-store.ts"

export interface TenantRecord {
  tenant: Tenant
  /** RFC 3339: creation time of the objects it starts with. */
  createdAt: string
  /** deleting: what is left on disk is removed at the next start at the latest. */
  state: "active" | "deleting"
  /** Of its service-account tokens. */
  issuer: string
}

const prefix = "/tenants/"

/** All, and the revision that is true at. */
export async function readRecords(store: Store): Promise<{ records: TenantRecord[]; revision: Revision }> {
  const { items, revision } = await store.range(prefix)
  return { records: items.map(parse), revision }
}

/** Of the values of the gateway's store, read by whoever checks it. */
export function recordsOf(values: ReadonlyMap<string, Uint8Array>): { records: TenantRecord[]; faults: string[] } {
  const records: TenantRecord[] = []
  const faults: string[] = []
  for (const [key, value] of values) {
    if (!key.startsWith(prefix)) continue
    try {
      const record = JSON.parse(Buffer.from(value).toString()) as TenantRecord
      if (prefix + record.tenant.name === key) records.push(record)
      else faults.push(`the record "${key}" is of tenant "${record.tenant.name}"`)
    } catch (error) {
      faults.push(`the record "${key}" cannot be read: ${errorMessage(error)}`)
    }
  }
  return { records, faults }
}

/** Changes of records by other gateways, and by this one. */
export function watchRecords(store: Store, after: Revision): Watcher {
  return store.watch(prefix, { after })
}

/** The record an event tells of, or only the name when it is gone. */
export function changedRecord({ type, current }: StoreEvent): { name: string; record: TenantRecord | undefined } {
  return { name: current.key.slice(prefix.length), record: type === "put" ? parse(current) : undefined }
}

export async function readRecord(store: Store, name: string): Promise<TenantRecord | undefined> {
  const found = await store.get(prefix + name)
  return found && parse(found)
}

/** Answers the record that is there already; undefined: it was written. */
export async function createRecord(store: Store, record: TenantRecord): Promise<TenantRecord | undefined> {
  const key = prefix + record.tenant.name
  const result = await store.txn({
    compare: [{ key, modRevision: 0 }],
    operations: [
      { type: "put", key, value: Buffer.from(JSON.stringify(record)) },
      // Its store may have been kept ready for it.
      { type: "delete", key: spareKey(record.tenant.uid) },
    ],
  })
  if (result.succeeded) return undefined
  const [present] = result.current
  if (present === undefined) throw new Error(`record of tenant ${record.tenant.name}: neither written nor there`)
  return parse(present)
}

/** Instead of the tenant's record; undefined removes it. When there is none or another tenant's, nothing happens. */
export async function replaceRecord(store: Store, { name, uid }: Tenant, record?: TenantRecord): Promise<void> {
  const key = prefix + name
  for (let found = await store.get(key); found !== undefined && parse(found).tenant.uid === uid;) {
    const result = await store.txn({
      compare: [{ key, modRevision: found.modRevision }],
      operations: [record ? { type: "put", key, value: Buffer.from(JSON.stringify(record)) } : { type: "delete", key }],
    })
    if (result.succeeded) return
    found = result.current[0]
  }
}

function parse({ value }: KeyValue): TenantRecord {
  return JSON.parse(Buffer.from(value).toString()) as TenantRecord
}
