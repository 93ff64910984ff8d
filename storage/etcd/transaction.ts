// Converts a transaction to one of etcd. A key of the base layer exists as long as it has neither a value nor a deletion mark in
// etcd, so comparing and deleting such a key uses both.

import { baseRevision } from "../base-layer.ts"
import type { Operation, Transaction } from "../types.ts"
import type { StoreKeys } from "./keys.ts"
import type { Layer } from "./layer.ts"
import type { Compare, RequestOp, TxnRequest } from "./wire.ts"

const empty = Buffer.alloc(0)

const modified = (key: Uint8Array, mod_revision: number): Compare => ({ result: 0, target: 2, key, mod_revision })
const exists = (key: Uint8Array): Compare => ({ result: 1, target: 2, key, mod_revision: 0 })

/** If the comparison fails, the responses are the values of the compared keys, in order. */
export function wireTransaction({ compare, operations }: Transaction, keys: StoreKeys, layer: Layer): TxnRequest {
  return {
    compare: compare.flatMap(({ key, modRevision }) => {
      if (!layer.isBase(key) || modRevision > baseRevision) return [modified(keys.value(key), modRevision)]
      const deleted = modRevision === 0 ? exists(keys.deleted(key)) : modified(keys.deleted(key), 0)
      return [modified(keys.value(key), 0), deleted]
    }),
    success: operations.map((operation) => wireOperation(operation, keys, layer)),
    failure: compare.map(({ key }) => ({ request_range: { key: keys.value(key) } })),
  }
}

function wireOperation(operation: Operation, keys: StoreKeys, layer: Layer): RequestOp {
  const key = keys.value(operation.key)
  // A copy, because the caller may reuse its buffer while the request is retried.
  if (operation.type === "put") return { request_put: { key, value: Buffer.from(operation.value) } }
  const remove: RequestOp = { request_delete_range: { key } }
  if (!layer.isBase(operation.key)) return remove
  const deleted = keys.deleted(operation.key)
  const mark: RequestOp = { request_put: { key: deleted, value: empty } }
  return { request_txn: { compare: [modified(deleted, 0)], success: [mark, remove], failure: [remove] } }
}

/** Whether what it writes was not there before: if it is there, the transaction has been applied. */
export function isCreation({ compare, operations }: Transaction): boolean {
  return compare.some(
    ({ key, modRevision }) =>
      modRevision === 0 && operations.some((operation) => operation.key === key && operation.type === "put"),
  )
}

/**
 * Whether the transaction cannot be applied twice: applying it changes a revision that it compares, and no other change brings that back.
 * A key that is compared as absent is absent again once it has been deleted: there a second attempt might undo that deletion.
 */
export function isGuarded({ compare, operations }: Transaction): boolean {
  if (operations.length === 0) return true
  return compare.some(
    ({ key, modRevision }) => modRevision > 0 && operations.some((operation) => operation.key === key),
  )
}
