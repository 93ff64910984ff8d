// Takes over what other gateways on the same storage do with tenants, so that each gateway serves all of them: follows the records
// that they create, change and delete, and learns which tenants' objects they have changed.

import { setImmediate as nextTurn } from "node:timers/promises"
import { backoff } from "../../client/backoff.ts"
import { pause, systemClock } from "../../client/clock.ts"
import { failureFields, type Log } from "../../client/log.ts"
import { closedError, type Revision, type Store, type Watcher } from "../../storage/types.ts"
import { authorityName } from "../pki/trust-store.ts"
import type { OtherGateways } from "../stores/storage.ts"
import type { KnownTenants } from "./known-tenants.ts"
import type { TenantEntry } from "./tenant-entry.ts"
import type { TenantOperations } from "./tenant-operations.ts"
import { changedRecord, markStored, readChanges, readRecord, type RecordChange, watchRecords } from "./tenant-record.ts"

interface OtherTenantsParts {
  store: Store
  gateways: OtherGateways
  /** The tenants served here. */
  known: KnownTenants
  removeStore: (uid: string) => Promise<void>
  /** Those of this gateway: call wrote() after each write, and ended() after each operation. */
  operations: Pick<TenantOperations, "isInProgress" | "inProgress">
  log: Log
}

/** At most so often do callers begin a watch again: each attempt reads all records. */
const attemptEveryMs = 200

export class OtherTenants implements AsyncDisposable {
  readonly #parts: OtherTenantsParts
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #watcher: Watcher | undefined
  /** Of one watch: resolves when it runs and what it does not deliver is known, or rejects with why it does not. */
  #following = newFollowing()
  /** Before the next watch. */
  #pausing = new AbortController()
  #attemptedAt = 0
  #settling: Promise<void> | undefined
  #settlingNext: Promise<void> | undefined
  /** All changes up to it are known, or deferred. */
  #revision: Revision
  /** What this gateway itself has written since, by name: it knows that, and nothing earlier may replace it. */
  readonly #written = new Map<string, Revision>()
  /** What has changed during operations of this gateway, by name: the latest change. */
  readonly #deferred = new Map<string, RecordChange>()

  /** `revision`: changes up to it are known. */
  constructor(parts: OtherTenantsParts, revision: Revision) {
    this.#parts = parts
    this.#revision = revision
    this.#running = this.#run(revision)
    const { gateways, known } = parts
    gateways.onChange((uid) => {
      const changed = uid === "" ? known.all() : [known.byAuthority(authorityName(uid))]
      for (const entry of changed) if (entry !== undefined) known.callChanged(entry)
    })
  }

  /**
   * Resolves when all changes before this call have been processed, except those of names that this gateway itself operates on. Throws
   * what the store throws. Concurrent callers share one request to the store.
   */
  settle(): Promise<void> {
    this.#settlingNext ??= (this.#settling ?? Promise.resolve())
      .catch(() => undefined) // reported to its own callers
      .then(() => {
        this.#settlingNext = undefined
        this.#settling = this.#settleNow()
        return this.#settling
      })
    return this.#settlingNext
  }

  async #settleNow(): Promise<void> {
    const following = this.#following
    await this.#followed()
    // The store notifies its watches before it responds, and they run first, also if they have been lost.
    await this.#parts.store.latest()
    await nextTurn()
    if (this.#following !== following) await this.#followed()
  }

  /** Does not wait much longer than one attempt takes. */
  #followed(): Promise<void> {
    const following = this.#following.promise
    const pausing = this.#pausing
    const left = this.#attemptedAt + attemptEveryMs - performance.now()
    if (left <= 0) pausing.abort()
    else if (!pausing.signal.aborted) setTimeout(() => pausing.abort(), left).unref()
    return following
  }

  /** This gateway has written or removed the record of that name. Undefined: there was none. */
  wrote(name: string, revision: Revision | undefined): void {
    if (revision !== undefined && revision > this.#revision) this.#written.set(name, revision)
  }

  /** Takes over what has changed during an operation of this gateway. What the watch has not delivered yet, it delivers later. */
  ended(name: string): void {
    const change = this.#deferred.get(name)
    if (change === undefined || this.#parts.operations.isInProgress(name)) return
    this.#deferred.delete(name)
    this.#changed(name, change)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    this.#pausing.abort()
    this.#watcher?.close()
    await this.#running
    this.#following.reject(closedError())
  }

  async #run(revision: Revision): Promise<void> {
    const { store, log } = this.#parts
    const { signal } = this.#ending
    let from: Revision | undefined = revision
    for (let failures = 0; !signal.aborted; from = undefined) {
      this.#attemptedAt = performance.now()
      try {
        from ??= await this.#readAgain()
        if (signal.aborted) return
        this.#watcher = watchRecords(store, from)
        this.#following.resolve()
        for await (const events of this.#watcher) {
          failures = 0
          for (const event of events) {
            const { name, change } = changedRecord(event, this.#unreadable)
            if (change !== undefined) this.#changed(name, change)
            this.#revision = event.current.modRevision
          }
        }
        if (!signal.aborted) this.#following = newFollowing()
      } catch (error) {
        if (signal.aborted) return
        failures++
        log.warn({ ...failureFields(error), failures }, "watching the tenants of other gateways failed; retrying")
        this.#following.reject(error)
        this.#following = newFollowing()
        this.#pausing = new AbortController()
        await pause(systemClock, backoff(failures), this.#pausing.signal)
      }
    }
  }

  /** The answer may be older than what this gateway has done meanwhile. */
  async #readAgain(): Promise<Revision> {
    const { store, known, operations } = this.#parts
    const { changes, unknown, revision } = await readChanges(store, this.#unreadable)
    for (const [name, written] of this.#written) if (written <= revision) this.#written.delete(name)
    // Also of tenants that are being created here, which are not known yet.
    const gone = new Set([...known.all().map(({ record }) => record.tenant.name), ...operations.inProgress()])
    for (const name of gone)
      if (!changes.has(name) && !unknown.has(name)) this.#changed(name, { record: undefined, revision })
    for (const [name, change] of changes) this.#changed(name, change)
    this.#revision = revision
    return revision
  }

  /** Damage concerns nobody else, and removes nothing. */
  readonly #unreadable = (tenant: string, error: unknown): void =>
    this.#parts.log.error(
      { err: error, tenant },
      "the record of a tenant cannot be read: its changes are not known here",
    )

  /** Also called for writes of this gateway, which change nothing. */
  #changed(name: string, change: RecordChange): void {
    const { known, operations } = this.#parts
    if (change.revision < (this.#written.get(name) ?? 0)) return
    if (operations.isInProgress(name)) {
      this.#deferred.set(name, change)
      return
    }
    this.#written.delete(name)
    const entry = known.get(name)
    const active = change.record?.state === "active" ? change.record : undefined
    const isSame = entry !== undefined && active?.tenant.uid === entry.record.tenant.uid
    if (entry !== undefined && !isSame) void this.#remove(entry)
    if (active === undefined) return
    if (!isSame) return known.join(active)
    if (active.isStored === true) markStored(entry.record)
    known.change(entry, active.tenant)
  }

  async #remove(entry: TenantEntry): Promise<void> {
    const { known, log } = this.#parts
    const tenant = entry.record.tenant.name
    try {
      await known.remove(entry)
    } catch (error) {
      log.error({ err: error, tenant }, "closing a deleted tenant failed")
    }
    try {
      await this.#removeMade(entry)
    } catch (error) {
      log.error({ err: error, tenant }, "what may have been made of a deleted tenant was not removed")
    }
  }

  /** Opening it for the first time may have made its store anew after another gateway had removed that. */
  async #removeMade({ record: { tenant, isStored } }: TenantEntry): Promise<void> {
    if (isStored === true) return
    const { store, removeStore } = this.#parts
    // What was learned of others may be wrong about a tenant that lives. One whose deletion has begun never lives again.
    const current = await readRecord(store, tenant.name)
    if (current?.tenant.uid !== tenant.uid || current.state !== "active") await removeStore(tenant.uid)
  }
}

function newFollowing(): PromiseWithResolvers<void> {
  const following = Promise.withResolvers<void>()
  following.promise.catch(() => undefined) // logged, and reported to those who wait
  return following
}
