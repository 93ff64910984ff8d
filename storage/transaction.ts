// Semantics of transactions, for every backend: the checks on entry, and a pure function from the state before to the changes. Reading
// the state and writing the changes is up to the backend.

import type { StoreLimits } from "./limits.ts"
import {
  StorageError,
  type KeyValue,
  type Operation,
  type Revision,
  type StoreEvent,
  type Transaction,
  type TransactionResult,
} from "./types.ts"

/** Returns the size of keys and values in bytes. Throws StorageError TooLarge, and TypeError for invalid arguments. */
export function measureTransaction(transaction: Transaction, limits: StoreLimits): number {
  const { compare, operations } = transaction
  if (Math.max(compare.length, operations.length) > limits.maxTransactionOperations)
    throw new StorageError("TooLarge", `transaction has more than ${limits.maxTransactionOperations} operations`)
  let bytes = 0
  for (const { key } of compare) bytes += measureKey(key, limits)
  const written = new Set<string>()
  for (const operation of operations) {
    if (written.has(operation.key)) throw new TypeError(`transaction writes key "${operation.key}" twice`)
    written.add(operation.key)
    bytes += measureKey(operation.key, limits) + measureValue(operation, limits)
  }
  if (bytes > limits.maxTransactionBytes)
    throw new StorageError("TooLarge", `transaction of ${bytes} bytes; the limit is ${limits.maxTransactionBytes}`)
  return bytes
}

function measureKey(key: string, limits: StoreLimits): number {
  // NUL terminates the key in the history index, and ill-formed strings cannot be encoded in UTF-8.
  if (key === "" || key.includes("\0") || !key.isWellFormed())
    throw new TypeError(`not a storage key: ${JSON.stringify(key)}`)
  const bytes = Buffer.byteLength(key)
  if (bytes > limits.maxKeyBytes)
    throw new StorageError("TooLarge", `key of ${bytes} bytes; the limit is ${limits.maxKeyBytes}`)
  return bytes
}

function measureValue(operation: Operation, limits: StoreLimits): number {
  if (operation.type === "delete") return 0
  const bytes = operation.value.byteLength
  if (bytes > limits.maxValueBytes)
    throw new StorageError(
      "TooLarge",
      `value of "${operation.key}" has ${bytes} bytes; the limit is ${limits.maxValueBytes}`,
    )
  return bytes
}

interface Outcome {
  result: TransactionResult
  /** Empty if nothing is written. All events have the result's revision. */
  events: readonly StoreEvent[]
}

/**
 * Applies a transaction to the state at `revision`, as returned by `read`. A transaction that writes gets revision + 1. Deleting an
 * absent key changes nothing.
 */
export function applyTransaction(
  transaction: Transaction,
  revision: Revision,
  read: (key: string) => KeyValue | undefined,
): Outcome {
  const compared = transaction.compare.map(({ key }) => read(key))
  const holds = transaction.compare.every(({ modRevision }, i) => (compared[i]?.modRevision ?? 0) === modRevision)
  if (!holds) return { result: { succeeded: false, revision, current: compared }, events: [] }
  const events: StoreEvent[] = []
  for (const operation of transaction.operations) {
    const event = applyOperation(operation, revision + 1, read(operation.key))
    if (event) events.push(event)
  }
  return { result: { succeeded: true, revision: events.length > 0 ? revision + 1 : revision }, events }
}

function applyOperation(
  operation: Operation,
  revision: Revision,
  previous: KeyValue | undefined,
): StoreEvent | undefined {
  if (operation.type === "delete") {
    return previous && { type: "delete", current: atRevision(previous, revision), previous }
  }
  const current = {
    key: operation.key,
    // Otherwise copied: the caller may reuse its buffer while the change waits for the disk.
    value: operation.isGiven === true ? operation.value : ownCopy(operation.value),
    createRevision: previous?.createRevision ?? revision,
    modRevision: revision,
    found: undefined,
  }
  return previous ? { type: "put", current, previous } : { type: "put", current }
}

/** The same value with another revision. */
export function atRevision({ key, value, createRevision }: KeyValue, modRevision: Revision): KeyValue {
  return { key, value, createRevision, modRevision, found: undefined }
}

/** The state of the event's key after the event. */
export function stateAfter(event: StoreEvent): KeyValue | undefined {
  return event.type === "put" ? event.current : undefined
}

/** Throws if the revision at which a caller wants to read is not in (compacted, head]. */
export function checkReadable(revision: Revision, compacted: Revision, head: Revision): void {
  if (revision > head) throw new StorageError("FutureRevision", `revision ${revision} is not there yet, at ${head}`)
  if (revision <= compacted) throw compactedError(revision, compacted)
}

export function compactedError(revision: Revision, compacted: Revision): StorageError {
  return new StorageError("Compacted", `revision ${revision} has been compacted, up to ${compacted}`)
}

/**
 * The revision up to which a request to compact at `revision` may compact: the latest revision always remains readable, so that a
 * watch can start at the revision of the latest list.
 */
export function compactionTarget(revision: Revision, head: Revision): Revision {
  if (revision > head)
    throw new StorageError("FutureRevision", `cannot compact at ${revision}: the store is at revision ${head}`)
  return Math.min(revision, head - 1)
}

/** Not from Node's pool: a buffer that lives long would retain all 64 KiB of its pool. */
function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength)
  copy.set(bytes)
  return copy
}
