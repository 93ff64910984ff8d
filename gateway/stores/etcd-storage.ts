// A gateway's storage on etcd: records, keys and all control planes below one prefix, shared by any number of gateways.

import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { isDeepStrictEqual } from "node:util"
import { systemClock, type Clock } from "../../client/clock.ts"
import { follow } from "../../client/credentials/follow.ts"
import { silentLog, type Log } from "../../client/log.ts"
import type { EtcdTls } from "../../storage/etcd/certificates.ts"
import { EtcdDatabase, type EtcdOptions } from "../../storage/etcd/database.ts"
import { HeldError, type EtcdLease } from "../../storage/etcd/lease.ts"
import type { StoreLimits } from "../../storage/limits.ts"
import { StorageError, type BaseLayer, type Store } from "../../storage/types.ts"
import { StartError } from "../start-error.ts"
import { keyRecords, type KeyFiles } from "../pki/key-files.ts"
import { trustKey } from "../pki/trust-store.ts"
import type { GatewayStorage, OtherGateways, StoreOptions } from "./storage.ts"

/** The store of the gateway's own records; distinct from all tenants' uids. */
export const gatewayUid = "gateway"
const formatKey = "/format"
const format = 1
/** After its process was killed, the super cluster stays leased this long; the next process waits for it. */
const superLeaseTimes = { ttlSeconds: 10, waitMs: 15_000 }

export interface EtcdStorageOptions extends Pick<EtcdOptions, "servers" | "prefix" | "tls"> {
  /** Reloads the files of `tls`. Fails while they are being replaced. */
  tlsAgain?: () => Promise<EtcdTls>
}

export class EtcdStorage implements GatewayStorage {
  readonly store: Store
  readonly keys: KeyFiles
  readonly others: OtherGateways
  readonly #database: EtcdDatabase
  readonly #ending = new AbortController()
  #superLease: EtcdLease | undefined

  /** Throws StartError. */
  static async open(
    options: EtcdStorageOptions,
    limits: Partial<StoreLimits> = {},
    { log, clock = systemClock }: { log?: Log | undefined; clock?: Clock | undefined } = {},
  ): Promise<EtcdStorage> {
    await using stack = new AsyncDisposableStack()
    const onFailure = (error: Error): void => log?.warn({ error: error.message }, "etcd failed; retrying")
    try {
      const database = stack.use(await EtcdDatabase.open({ ...options, limits, onFailure }))
      const store = await database.openStore(gatewayUid)
      await checkFormat(store, options)
      stack.move()
      const storage = new EtcdStorage(database, store)
      storage.#follow(options, log ?? silentLog, clock)
      return storage
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      throw new StartError(`etcd at ${options.servers.join(",")} cannot be used: ${error.message}`, { cause: error })
    }
  }

  private constructor(database: EtcdDatabase, store: Store) {
    this.#database = database
    this.store = store
    this.keys = keyRecords(store)
    this.others = {
      onChange: (listener) => void database.onChange(listener),
      lastChange: (uid) => database.lastChange(uid) ?? 0,
      forget: (uid) => database.forget(uid),
    }
  }

  newUid(): string {
    return randomUUID()
  }

  openStore(uid: string, base: BaseLayer, { quota }: StoreOptions = {}): Promise<Store> {
    return this.#database.openStore(uid, base, quota, trustKey)
  }

  removeStore(uid: string): Promise<void> {
    return this.#database.removeStore(uid, trustKey)
  }

  /** Throws StartError if another process serves it. The signal is aborted when another process may take over. */
  async holdSuperCluster(): Promise<AbortSignal> {
    const holder = `process ${process.pid} on ${hostname()}`
    try {
      this.#superLease = await this.#database.hold("super-cluster", `${holder} (${randomUUID()})`, superLeaseTimes)
      return this.#superLease.lost
    } catch (error) {
      if (!(error instanceof HeldError)) throw error
      throw new StartError(
        `another polyplane serves the simulated super cluster of this etcd: ${error.holder}. Several may share an etcd with a real super cluster (--super-kubeconfig), or with another --etcd-prefix`,
        { cause: error },
      )
    }
  }

  #follow({ tls = {}, tlsAgain }: EtcdStorageOptions, log: Log, clock: Clock): void {
    if (tlsAgain === undefined) return
    const renew = (now: EtcdTls): void => this.#database.renew(now)
    void follow(
      { what: "certificate for etcd", read: tlsAgain, current: tls, isSame: isDeepStrictEqual, renew },
      { signal: this.#ending.signal, log, clock },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#superLease?.[Symbol.asyncDispose]()
    await this.#database[Symbol.asyncDispose]()
  }
}

async function checkFormat(store: Store, { prefix = "" }: EtcdStorageOptions): Promise<void> {
  const value = Buffer.from(JSON.stringify({ format }))
  const result = await store.txn({
    compare: [{ key: formatKey, modRevision: 0 }],
    operations: [{ type: "put", key: formatKey, value }],
  })
  const [present] = result.succeeded ? [] : result.current
  if (present === undefined) return
  const { format: found } = JSON.parse(Buffer.from(present.value).toString()) as { format?: unknown }
  if (typeof found !== "number" || found > format)
    throw new StartError(
      `what lies in etcd below "${prefix}" was written by a newer version of polyplane (format ${String(found)}, this one knows ${format})`,
    )
}
