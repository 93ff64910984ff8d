// TypeScript types of etcd.proto: the messages that the codec accepts and returns, and the calls.

import { fileURLToPath } from "node:url"
import type { MethodDefinition } from "@grpc/grpc-js"
import { loadSync } from "@grpc/proto-loader"

interface Header {
  revision: number
}

export interface WireKeyValue {
  key: Buffer
  create_revision: number
  mod_revision: number
  /** 1 if the key has just been created. */
  version: number
  value: Buffer
}

export interface RangeRequest {
  key: Uint8Array
  range_end?: Uint8Array
  /** 0: unlimited. */
  limit?: number
  revision?: number
  keys_only?: boolean
  count_only?: boolean
}

export interface RangeResponse {
  header: Header
  kvs: WireKeyValue[]
  more: boolean
  /** Count of the whole range, regardless of the limit. */
  count: number
}

export interface RequestOp {
  request_range?: RangeRequest
  request_put?: { key: Uint8Array; value: Uint8Array; lease?: number }
  request_delete_range?: { key: Uint8Array; range_end?: Uint8Array }
  request_txn?: TxnRequest
}

/** `target` 2 is the revision of the last write. */
export interface Compare {
  result: 0 | 1
  target: 2
  key: Uint8Array
  mod_revision: number
}

export interface TxnRequest {
  compare: Compare[]
  success: RequestOp[]
  failure: RequestOp[]
}

export interface TxnResponse {
  header: Header
  succeeded: boolean
  responses: { response_range?: RangeResponse }[]
}

export interface WatchRequest {
  create_request?: {
    key: Uint8Array
    range_end: Uint8Array
    start_revision: number
    prev_kv: boolean
    progress_notify: boolean
    /** Long responses come in parts, each at most as long as a request may be, or one event. */
    fragment: boolean
  }
  progress_request?: Record<string, never>
}

export interface WireEvent {
  /** 0: put, 1: delete. */
  type: number
  kv: WireKeyValue
  prev_kv: WireKeyValue | null
}

export interface WatchResponse {
  header: Header
  created: boolean
  canceled: boolean
  compact_revision: number
  cancel_reason: string
  /** More parts of this response follow, even of the last transaction. */
  fragment: boolean
  events: WireEvent[]
}

interface Call<Request, Response> extends MethodDefinition<Request, Response> {}

export interface Calls {
  range: Call<RangeRequest, RangeResponse>
  deleteRange: Call<{ key: Uint8Array; range_end?: Uint8Array }, { header: Header; deleted: number }>
  txn: Call<TxnRequest, TxnResponse>
  compact: Call<{ revision: number }, object>
  watch: Call<WatchRequest, WatchResponse>
  leaseGrant: Call<{ TTL: number; ID: number }, { ID: number; TTL: number }>
  leaseRevoke: Call<{ ID: number }, object>
  leaseKeepAlive: Call<{ ID: number }, { ID: number; TTL: number }>
  status: Call<object, { header: Header; version: string; dbSize: number }>
}

/** Called once per database, so that processes without one do not load the codec. */
export function loadCalls(): Calls {
  const definition = loadSync(fileURLToPath(new URL("etcd.proto", import.meta.url)), {
    keepCase: true,
    longs: Number, // revisions are far below 2^53, and lease ids are chosen below it
    defaults: true,
    arrays: true,
  })
  const call = (service: string, method: string): never => {
    const found = definition[`etcdserverpb.${service}`] as Record<string, unknown> | undefined
    // The codec is untyped; etcd.proto guarantees these types.
    return found?.[method] as never
  }
  return {
    range: call("KV", "Range"),
    deleteRange: call("KV", "DeleteRange"),
    txn: call("KV", "Txn"),
    compact: call("KV", "Compact"),
    watch: call("Watch", "Watch"),
    leaseGrant: call("Lease", "LeaseGrant"),
    leaseRevoke: call("Lease", "LeaseRevoke"),
    leaseKeepAlive: call("Lease", "LeaseKeepAlive"),
    status: call("Maintenance", "Status"),
  }
}
