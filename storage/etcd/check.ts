// Consistency check of the data in etcd: checks everything below the stores' prefix at one revision, so that gateways can keep
// running, against the layout in keys.ts. For operators who suspect a problem; it is read-only.

import { StorageError, type BaseLayer, type Revision } from "../types.ts"
import { EtcdClient } from "./client.ts"
import { databasePrefix, type EtcdOptions } from "./database.ts"
import { storageError } from "./errors.ts"
import { isGate } from "./gate.ts"
import { placeOf, rangeEnd, storeKeys, storesPrefix, type Place } from "./keys.ts"
import { defaultEtcdLimits } from "./limits.ts"
import type { WireKeyValue } from "./wire.ts"

/** Number of entries per request. */
const pageSize = 250
/** Maximum number of faults reported per store. */
const maxFaults = 100

interface CheckedStoreFaults {
  uid: string
  /** Sentences; empty if there are no faults. */
  faults: readonly string[]
}

/** The data at one revision. */
export class EtcdSnapshot implements Disposable {
  readonly #client: EtcdClient
  readonly #prefix: string
  #revision: Revision | undefined

  constructor(options: Pick<EtcdOptions, "servers" | "prefix" | "tls">) {
    const { servers, tls } = options
    this.#client = new EtcdClient({ servers, ...(tls ? { tls } : {}), limits: defaultEtcdLimits })
    this.#prefix = databasePrefix(options)
  }

  /** Values of one store, by key. */
  async values(uid: string): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    const { root } = storeKeys(this.#prefix, uid)
    for await (const { place, kv } of this.#entries(root)) if (place.kind === "value") found.set(place.key, kv.value)
    return found
  }

  /** Checks all stores, ordered by uid. */
  async *check(base: BaseLayer): AsyncGenerator<CheckedStoreFaults> {
    let current: { uid: string; faults: string[] } | undefined
    for await (const { place, kv } of this.#entries(Buffer.from(storesPrefix(this.#prefix)))) {
      if (current?.uid !== place.uid) {
        if (current !== undefined) yield current
        current = { uid: place.uid, faults: [] }
      }
      const fault = faultOf(place, kv, base)
      if (fault !== undefined && current.faults.length < maxFaults) current.faults.push(fault)
    }
    if (current !== undefined) yield current
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }

  /** Throws Unavailable, or Compacted if it takes longer than history is kept. */
  async *#entries(prefix: Buffer): AsyncGenerator<{ place: Place; kv: WireKeyValue }> {
    const length = Buffer.byteLength(storesPrefix(this.#prefix))
    const end = rangeEnd(prefix)
    for (let key: Buffer | undefined = prefix; key !== undefined;) {
      const { kvs, more } = await this.#page(key, end)
      for (const kv of kvs) yield { place: placeOf(kv.key, length), kv }
      const last = kvs.at(-1)
      key = more && last !== undefined ? Buffer.concat([last.key, Buffer.of(0)]) : undefined
    }
  }

  async #page(key: Buffer, end: Buffer): Promise<{ kvs: WireKeyValue[]; more: boolean }> {
    const at = this.#revision === undefined ? {} : { revision: this.#revision }
    const request = { key, range_end: end, limit: pageSize, ...at }
    try {
      const { response } = await this.#client.call(this.#client.calls.range, request, "again")
      this.#revision ??= response.header.revision
      return response
    } catch (error) {
      throw storageError(error, this.#revision, this.#revision ?? 0)
    }
  }
}

function faultOf(place: Place, { key: wire, value, mod_revision }: WireKeyValue, base: BaseLayer): string | undefined {
  const { kind, key, uid } = place
  const text = wire.toString()
  if (!text.endsWith(`/${uid}/${markOf(kind)}${key}`)) return `unknown record ${JSON.stringify(text)}`
  if (kind === "gate")
    return key === "" && isGate(value) ? undefined : `the gate of its quota says "${value.toString().slice(0, 64)}"`
  if (!key.startsWith("/") || key.includes("\0") || key.includes("\ufffd")) return `"${key}" is not a storage key`
  if (kind === "value") return undefined
  if (!base.has(key)) return `"${key}" is marked as deleted from the base layer, which does not have it`
  if (value.byteLength > 0) return `the mark that "${key}" has been deleted, of revision ${mod_revision}, is not empty`
  return undefined
}

function markOf(kind: Place["kind"]): string {
  return kind === "gate" ? "q" : kind.charAt(0)
}

/** The reason why the check cannot continue, or undefined if the error is a bug. */
export function whyStopped(error: unknown): string | undefined {
  if (!(error instanceof StorageError)) return undefined
  return error.code === "Compacted" ? "it took longer than etcd keeps history: try again" : error.message
}
