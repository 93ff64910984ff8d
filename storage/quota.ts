// What a store may hold: how many keys under a prefix, and how many bytes of keys and values, as they are now; history is
// bounded by its own limits. Counted exactly: the count is written with what it counts, and each transaction is checked
// against what all before it leave.

import { baseRevision } from "./base-layer.ts"
import { StorageError, type KeyValue, type StoreEvent } from "./types.ts"

export interface StoreQuota {
  /** What is counted; other keys are the gateway's own. */
  readonly prefix: string
  /** Keys. A transaction that adds one beyond it: QuotaExceeded. */
  readonly maxObjects: number
  /** Bytes of keys and values. A transaction that adds some beyond it: QuotaExceeded. */
  readonly maxBytes: number
  /** Bytes beyond maxBytes for what is on its way out (Transaction.leaving): who is at the limit must be able to delete. */
  readonly reserveBytes: number
}

export interface Usage {
  objects: number
  bytes: number
}

/** What a base layer holds counts for nobody. */
export function usageOf(entry: KeyValue | undefined, { prefix }: Pick<StoreQuota, "prefix">): Usage {
  if (entry === undefined || entry.modRevision === baseRevision || !entry.key.startsWith(prefix)) return nothing
  return { objects: 1, bytes: Buffer.byteLength(entry.key) + entry.value.byteLength }
}

const nothing: Usage = { objects: 0, bytes: 0 }

/** After the changes of one transaction. Throws QuotaExceeded. */
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

/** In the words of a ResourceQuota's refusal. */
function exceeded(what: string, requested: number, used: number, limited: number): StorageError {
  const each = `requested: ${what}=${requested}, used: ${what}=${used}, limited: ${what}=${limited}`
  return new StorageError("QuotaExceeded", `exceeded quota: tenant, ${each}`)
}

export function encodeUsage({ objects, bytes }: Usage): Buffer {
  return Buffer.from(`${objects} ${bytes}`)
}

/** undefined: not a count. */
export function decodeUsage(data: Uint8Array): Usage | undefined {
  const [objects = Number.NaN, bytes = Number.NaN] = Buffer.from(data).toString().split(" ").map(Number)
  return Number.isSafeInteger(objects) && Number.isSafeInteger(bytes) ? { objects, bytes } : undefined
}
