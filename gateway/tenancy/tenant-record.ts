// What is kept of a tenant outside its own store: about a kilobyte, in the gateway's store under "/tenants/<name>".

import type { Tenant } from "../../client/tenants.ts"
import type { Store } from "../../storage/types.ts"

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

export async function readRecords(store: Store): Promise<TenantRecord[]> {
  const { items } = await store.range(prefix)
  return items.map(({ value }) => JSON.parse(Buffer.from(value).toString()) as TenantRecord)
}

export async function writeRecord(store: Store, record: TenantRecord): Promise<void> {
  const value = Buffer.from(JSON.stringify(record))
  await store.txn({ compare: [], operations: [{ type: "put", key: prefix + record.tenant.name, value }] })
}

export async function removeRecord(store: Store, name: string): Promise<void> {
  await store.txn({ compare: [], operations: [{ type: "delete", key: prefix + name }] })
}
