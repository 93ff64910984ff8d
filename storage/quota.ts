// Limits of a store: the number of keys under a prefix, and the bytes of keys and values, in the current state; history has its own
// limits. Usage is exact: it is written together with the changes, and each transaction is checked against the usage after all
// earlier ones.

import { baseRevision } from "./base-layer.ts"
import { StorageError, type KeyValue, type StoreEvent } from "./types.ts"

/** The limits may change while the store is open: they are read for each transaction. */
export interface StoreQuota {
  /** Prefix of the keys that count; other keys belong to the gateway itself. */
  readonly prefix: string
  /** Limit of keys. A transaction that exceeds it fails with QuotaExceeded. */
  readonly maxObjects: number
  /** Limit of the bytes of keys and values. A transaction that exceeds it fails with QuotaExceeded. */
  readonly maxBytes: number
  /** Additional bytes for objects being deleted (Transaction.leaving): deletions must be possible at the limit. */
  readonly reserveBytes: number
}

export interface Usage {
  objects: number
  bytes: number
}

/** The contents of a base layer do not count. */
export function usageOf(entry: KeyValue | undefined, { prefix }: Pick<StoreQuota, "prefix">): Usage {
  if (entry === undefined || entry.modRevision === baseRevision || !entry.key.startsWith(prefix)) return nothing
  return { objects: 1, bytes: Buffer.byteLength(entry.key) + entry.value.byteLength }
}

const nothing: Usage = { objects: 0, bytes: 0 }

/** The usage after a transaction's changes. Throws QuotaExceeded. */
export function usageAfter(used: Usage, events: readonly StoreEvent[], quota: StoreQuota, isLeaving: boolean): Usage {
  let { objects, bytes } = used
  for (const { type, current, previous } of events) {
    const before = usageOf(previous, quota)
    const after = type === "put" ? usageOf(current, quota) : nothing
    objects += after.objects - before.objects
    bytes += after.bytes - before.bytes
  }
  if (objects > used.objects && objects > quota.maxObjects)
    throw exceeded("objects", objects - used.objects, used.objects, quota.maxObjects)
  if (bytes > used.bytes && bytes > quota.maxBytes + (isLeaving ? quota.reserveBytes : 0))
    throw exceeded("bytes", bytes - used.bytes, used.bytes, quota.maxBytes)
  return { objects, bytes }
}

/** With the wording of a ResourceQuota's error. */
function exceeded(what: string, requested: number, used: number, limited: number): StorageError {
  const each = `requested: ${what}=${requested}, used: ${what}=${used}, limited: ${what}=${limited}`
  return new StorageError("QuotaExceeded", `exceeded quota: tenant, ${each}`)
}

export function encodeUsage({ objects, bytes }: Usage): Buffer {
  return Buffer.from(`${objects} ${bytes}`)
}

/** undefined if the data is invalid. */
export function decodeUsage(data: Uint8Array): Usage | undefined {
  const [objects = Number.NaN, bytes = Number.NaN] = Buffer.from(data).toString().split(" ").map(Number)
  return Number.isSafeInteger(objects) && Number.isSafeInteger(bytes) ? { objects, bytes } : undefined
}
