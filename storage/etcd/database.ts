// Entry point of storage on etcd: one database for all stores of a gateway, and of all gateways that share it. Opened once per
// process, and loaded only when it is used, because the gRPC client takes time and memory.

import { randomBytes } from "node:crypto"
import { defaultLimits, type StoreLimits } from "../limits.ts"
import type { StoreQuota } from "../quota.ts"
import { compactedError } from "../transaction.ts"
import type { BaseLayer, Revision, Store } from "../types.ts"
import type { EtcdTls } from "./certificates.ts"
import { EtcdClient } from "./client.ts"
import { Connection } from "./connection.ts"
import { placeOf, rangeEnd, storeKeys } from "./keys.ts"
import { EtcdLease } from "./lease.ts"
import { defaultEtcdLimits, type EtcdLimits } from "./limits.ts"
import type { Known } from "./quota-gate.ts"
import { keyAfter, readPages } from "./range.ts"
import { EtcdStore } from "./store.ts"
import type { RangeRequest, RangeResponse, WireEvent } from "./wire.ts"

export interface EtcdOptions {
  /** "http://host:port" or "https://host:port". */
  servers: readonly string[]
  /** Prefix of all keys. Default: "/polyplane". */
  prefix?: string
  tls?: EtcdTls
  limits?: Partial<StoreLimits>
  etcdLimits?: Partial<EtcdLimits>
  /** Called each time when etcd does not respond, a watch ends or a compaction fails, with the error; the operation is retried. */
  onFailure?(error: Error): void
}

const defaultPrefix = "/polyplane"
/** Size of the values of a store that are removed in one transaction; more if the first page of a range is larger. */
const removedBytes = 1024 * 1024

/** Without a trailing slash. */
export function databasePrefix({ prefix = defaultPrefix }: Pick<EtcdOptions, "prefix">): string {
  return prefix.replace(/(?<!\/)\/+$/, "")
}

export class EtcdDatabase implements AsyncDisposable {
  readonly #limits: StoreLimits
  readonly #stores = new Map<string, Set<EtcdStore>>()
  /** The revision of the last change of stores that were open and are now closed. */
  readonly #lastChanges = new Map<string, Revision>()
  /** Quota usage of closed stores, as long as nothing has changed. */
  readonly #known = new Map<string, Known>()
  readonly #listeners = new Set<(uid: string) => void>()
  readonly #connection: Connection
  readonly #callMs: number
  /** Member names in quota gates that closed stores have left and that are not in use. */
  readonly #members = new Map<string, string>()

  /** Throws Unavailable. */
  static async open(options: EtcdOptions): Promise<EtcdDatabase> {
    const limits: EtcdLimits = { ...defaultEtcdLimits, ...options.etcdLimits }
    const client = new EtcdClient({ servers: options.servers, ...(options.tls ? { tls: options.tls } : {}), limits })
    const storeLimits = { ...defaultLimits, ...options.limits }
    let database: EtcdDatabase | undefined
    try {
      const connection = await Connection.open({
        client,
        prefix: databasePrefix(options),
        limits,
        historyMilliseconds: storeLimits.historyMilliseconds,
        now: () => performance.now(),
        handler: {
          changed(events, revision) {
            if (database !== undefined) database.#changed(events, revision)
          },
          lost: async (revision) => (database === undefined ? () => undefined : database.#lost(revision)),
          failing: (error) => options.onFailure?.(error),
        },
      })
      database = new EtcdDatabase(connection, storeLimits, limits.callMs)
      return database
    } catch (error) {
      client.close()
      throw error
    }
  }

  private constructor(connection: Connection, limits: StoreLimits, callMs: number) {
    this.#callMs = callMs
    this.#connection = connection
    this.#limits = limits
  }

  /** Credentials and trusted CAs for new connections. */
  renew(tls: EtcdTls): void {
    this.#connection.client.renew(tls)
  }

  /**
   * A store may be open several times, with the same quota, which is enforced across all of them. `mark`: the key of its mark (mark.ts);
   * undefined: it is never removed.
   */
  async openStore(uid: string, base?: BaseLayer, quota?: StoreQuota, mark?: string): Promise<Store> {
    const store = new EtcdStore({
      connection: this.#connection,
      uid,
      base,
      limits: this.#limits,
      lastChange: this.#lastChanges.get(uid),
      mark,
      quota: quota && { quota, member: this.#memberOf(uid), known: this.#known.get(uid), callMs: this.#callMs },
      closed: (closing) => this.#forget(uid, closing),
    })
    this.#known.delete(uid)
    const stores = this.#stores.get(uid) ?? new Set()
    this.#stores.set(uid, stores.add(store))
    try {
      await store.load()
      return store
    } catch (error) {
      await store[Symbol.asyncDispose]()
      throw error
    }
  }

  /**
   * Deletes everything in pieces, each a message to every gateway whose other tenants wait for it. Open stores observe them. From the first
   * one on nothing can be written, by any process: that deletes the mark.
   */
  async removeStore(uid: string, mark?: string): Promise<void> {
    const { client, prefix } = this.#connection
    const keys = storeKeys(prefix, uid)
    const { root } = keys
    const read = async (request: RangeRequest): Promise<RangeResponse> =>
      (await client.call(client.calls.range, request, "again")).response
    try {
      if (mark !== undefined) await client.call(client.calls.deleteRange, { key: keys.value(mark) }, "again")
      for (;;) {
        const { kvs } = await readPages(read, { key: root, range_end: rangeEnd(root) }, undefined, removedBytes)
        const last = kvs.at(-1)
        if (last === undefined) break
        await client.call(client.calls.deleteRange, { key: root, range_end: keyAfter(last.key) }, "again")
      }
    } catch (error) {
      throw this.#connection.translate(error, undefined)
    }
    this.forget(uid)
  }

  /** A lock that only one process can hold at a time. Throws HeldError. */
  async hold(
    name: string,
    holder: string,
    { ttlSeconds, waitMs }: { ttlSeconds: number; waitMs: number },
  ): Promise<EtcdLease> {
    const { client, prefix } = this.#connection
    try {
      return await EtcdLease.hold({ client, prefix, name, holder, ttlSeconds, waitMs })
    } catch (error) {
      throw this.#connection.translate(error, undefined)
    }
  }

  /** Calls the listener when a store that is not open here has changed. */
  onChange(listener: (uid: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The revision of the last change of a store that is closed here. Undefined if it was never open. */
  lastChange(uid: string): Revision | undefined {
    return this.#lastChanges.get(uid)
  }

  /** Call when the store has been removed, by any process. */
  forget(uid: string): void {
    this.#lastChanges.delete(uid)
    this.#known.delete(uid)
    this.#members.delete(uid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stores of this.#stores.values()) for (const store of stores) await store[Symbol.asyncDispose]()
    await this.#connection[Symbol.asyncDispose]()
  }

  #changed(events: readonly WireEvent[], revision: Revision): void {
    const prefixLength = this.#connection.storesPrefix.length
    const [first] = events
    if (first === undefined) return
    // A transaction belongs to one store.
    const { uid } = placeOf(first.kv.key, prefixLength)
    const stores = this.#stores.get(uid)
    if (stores === undefined) {
      if (this.#lastChanges.has(uid)) this.#lastChanges.set(uid, revision)
      this.#known.delete(uid)
      for (const listener of this.#listeners) listener(uid)
    } else for (const store of stores) store.changed(events, revision)
  }

  async #lost(revision: Revision): Promise<() => void> {
    await Promise.all(this.#opened().map((store) => store.load()))
    return () => this.#startAnew(revision)
  }

  /** Also stores that were opened while others were loaded: they know no changes but those that the feed had delivered until then. */
  #startAnew(revision: Revision): void {
    this.#lastChanges.clear()
    this.#known.clear()
    const error = compactedError(revision - 1, revision)
    for (const store of this.#opened()) store.startAnew(error, revision)
    for (const listener of this.#listeners) listener("")
  }

  #opened(): EtcdStore[] {
    return [...this.#stores.values()].flatMap((stores) => [...stores])
  }

  #memberOf(uid: string): string {
    const member = this.#members.get(uid) ?? randomBytes(6).toString("base64url")
    this.#members.delete(uid)
    return member
  }

  #forget(uid: string, store: EtcdStore): void {
    const stores = this.#stores.get(uid)
    stores?.delete(store)
    if (stores?.size !== 0) return
    this.#stores.delete(uid)
    this.#lastChanges.set(uid, store.lastChange)
    const { gate } = store
    if (gate?.known !== undefined) this.#known.set(uid, gate.known)
    if (gate?.isIdle === true) this.#members.set(uid, gate.member)
  }
}
