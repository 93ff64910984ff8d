// A store's keys as its quota needs them: current values, comparisons for unchanged values, and the total usage.

import { usageOf, type Usage } from "../quota.ts"
import type { KeyValue, Revision, Transaction } from "../types.ts"
import type { Connection } from "./connection.ts"
import { pieceBytes } from "../limits.ts"
import { decodeGate, noGate, type Gate } from "./gate.ts"
import { rangeEnd, type StoreKeys } from "./keys.ts"
import type { Layer } from "./layer.ts"
import { keyAfter, readPages } from "./range.ts"
import type { Mark } from "./mark.ts"
import type { Committed, Condition, GatedStore } from "./quota-gate.ts"
import type { Compare, RangeRequest, RangeResponse, TxnRequest } from "./wire.ts"

/** Number of values that are read at once when counting. */
const countedAtOnce = 250

interface GatedKeysParts {
  connection: Connection
  keys: StoreKeys
  layer: Layer
  mark: Mark | undefined
  /** Resolves when the feed has reached the response's revision. */
  range: (request: RangeRequest, revision?: Revision) => Promise<RangeResponse>
  commit(transaction: Transaction, condition: Condition): Promise<Committed>
}

export class GatedKeys implements GatedStore {
  readonly #parts: GatedKeysParts

  constructor(parts: GatedKeysParts) {
    this.#parts = parts
  }

  get gateKey(): Buffer {
    return this.#parts.keys.gate
  }

  async rewriteGate(compare: Compare, value: Buffer): Promise<void> {
    const { connection, mark } = this.#parts
    const put = { request_put: { key: this.gateKey, value } }
    const request: TxnRequest = { compare: [compare], success: [put], failure: [] }
    const checkMark = mark?.require(request)
    const response = await connection.rewrite(request)
    checkMark?.(response)
  }

  commit(transaction: Transaction, condition: Condition): Promise<Committed> {
    return this.#parts.commit(transaction, condition)
  }

  async read(keys: readonly string[]): Promise<readonly (KeyValue | undefined)[]> {
    const { connection, keys: places, layer } = this.#parts
    const { client } = connection
    const success = keys.map((key) => ({ request_range: { key: places.value(key) } }))
    try {
      const { response } = await client.call(client.calls.txn, { compare: [], success, failure: [] }, "again")
      await connection.reach(response.header.revision)
      return keys.map((key, index) => {
        const found = response.responses[index]?.response_range?.kvs[0]
        return found && layer.keyValue(key, found)
      })
    } catch (error) {
      throw connection.translate(error, undefined)
    }
  }

  unchanged(key: string, found: KeyValue | undefined): Compare {
    return { result: 0, target: 2, key: this.#parts.keys.value(key), mod_revision: found?.modRevision ?? 0 }
  }

  async count(prefix: string): Promise<{ used: Usage; gate: Gate; revision: Revision }> {
    const { keys } = this.#parts
    const used: Usage = { objects: 0, bytes: 0 }
    const start = keys.value(prefix)
    const end = rangeEnd(start)
    const { kvs, header } = await this.#parts.range({ key: keys.gate }, undefined)
    const { revision } = header
    const gate = kvs[0] === undefined ? noGate : decodeGate({ type: 0, kv: kvs[0] })
    for (let from: Buffer | undefined = start; from !== undefined;) {
      const request: RangeRequest = { key: from, range_end: end, limit: countedAtOnce }
      const page: RangeResponse = await readPages(this.#parts.range, request, revision, pieceBytes)
      for (const { key, value, create_revision, mod_revision } of page.kvs) {
        const name = key.toString("utf8", keys.root.length + 1)
        const entry = { key: name, value, createRevision: create_revision, modRevision: mod_revision }
        const { objects, bytes } = usageOf(entry, { prefix })
        used.objects += objects
        used.bytes += bytes
      }
      const last = page.kvs.at(-1)
      from = page.more && last !== undefined ? keyAfter(last.key) : undefined
    }
    return { used, gate, revision }
  }
}
