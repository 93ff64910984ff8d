// Deletes Events some time after they were last written, as kube-apiserver does with leases of etcd (--event-ttl): without admission,
// and whatever their finalizers. Source: k8s.io/kubernetes/pkg/registry/core/event/storage, k8s.io/apiserver/pkg/storage/etcd3
// (lease_manager.go).
//
// All Events that have expired are deleted together, so a tenant with many is not read for each of them: upstream, too, keeps Events that
// share a lease longer than was asked for. When the next ones expire is known while the tenant sleeps (Due), and wakes it.

import type { KubeObject } from "../../apimachinery/object.ts"
import { millisecondsOf } from "../../apimachinery/schema/scalars.ts"
import { type Clock, pause, type Timer } from "../../client/clock.ts"
import { inTurns } from "../../client/in-turns.ts"
import { failureFields, type Log } from "../../client/log.ts"
import type { KeyValue, Store, Watcher } from "../../storage/types.ts"
import { storagePrefixOf } from "../registry/generic/storage/keys.ts"
import { parseStored } from "../registry/generic/storage/store-view.ts"
import type { Presence } from "../tenancy/presence.ts"

/** Outlives the control plane. */
export interface Due {
  /**
   * When its Events must be looked at next, in milliseconds since the epoch; Infinity: there are none. At first 0: there may be Events of an
   * earlier process.
   */
  at: number
}

interface EventExpiryParts {
  store: Store
  /** A tenant does not fall asleep while its Events are deleted. */
  presence: Presence
  due: Due
  ttlMs: number
  clock: Clock
  log: Log
}

const prefix = storagePrefixOf("", "events")

/** The share of its time by which an Event may live longer, so that those that expire in the meantime are deleted with it. */
export const graceShare = 0.05

/** After the watch of new Events has failed: while the disk fails, it does so at once. */
const retryMs = 1_000

/** Events read at once. */
const pageSize = 500

/** Deletions at once: they share flushes of the disk. */
const deletedAtOnce = 32

export class EventExpiry implements AsyncDisposable {
  readonly #parts: EventExpiryParts
  readonly #ending = new AbortController()
  #timer: Timer | undefined
  #watcher: Watcher | undefined
  #sweeping: Promise<void> | undefined
  readonly #following: Promise<void>

  constructor(parts: EventExpiryParts) {
    this.#parts = parts
    this.#following = this.#follow()
    this.#schedule()
  }

  /** What is written expires later than everything that is known, so this matters only if nothing is. */
  async #follow(): Promise<void> {
    const { store, clock, log } = this.#parts
    while (!this.#isEnding) {
      try {
        this.#watcher = store.watch(prefix, { after: store.revision, patient: true })
        for await (const changes of this.#watcher)
          if (changes.some(({ type }) => type === "put")) this.#expect(clock.now())
      } catch (error) {
        if (this.#isEnding) return
        log.warn(failureFields(error), `watch of ${prefix} ended, beginning again`)
        this.#expect(clock.now())
        await pause(clock, retryMs, this.#ending.signal)
      }
    }
  }

  /** An Event was last written at that time. */
  #expect(written: number): void {
    const { due, ttlMs } = this.#parts
    this.#dueAt(Math.min(due.at, written + ttlMs * (1 + graceShare)))
  }

  #dueAt(at: number): void {
    const { due } = this.#parts
    if (at === due.at) return
    due.at = at
    this.#schedule()
  }

  #schedule(): void {
    const { due, clock } = this.#parts
    this.#timer?.cancel()
    this.#timer = undefined
    if (due.at === Infinity || this.#isEnding || this.#sweeping !== undefined) return
    this.#timer = clock.after(due.at - clock.now(), () => {
      this.#sweeping = this.#sweep().finally(() => {
        this.#sweeping = undefined
        this.#schedule()
      })
    })
  }

  async #sweep(): Promise<void> {
    const { presence, due, ttlMs, clock, log } = this.#parts
    const leave = presence.enter(false)
    due.at = Infinity // what is written meanwhile may not be read
    try {
      const oldest = await this.#deleteExpired(clock.now() - ttlMs)
      if (oldest !== undefined) this.#expect(oldest)
    } catch (error) {
      if (!this.#isEnding) log.warn(failureFields(error), "Events that have expired are deleted later")
      this.#dueAt(Math.min(due.at, clock.now() + ttlMs * graceShare))
    } finally {
      leave()
    }
  }

  /** Returns when the oldest of the others was written. */
  async #deleteExpired(until: number): Promise<number | undefined> {
    const { store } = this.#parts
    let oldest: number | undefined
    let after: string | undefined
    do {
      const { items, more } = await store.range(
        prefix,
        after === undefined ? { limit: pageSize } : { limit: pageSize, after },
      )
      const expired: KeyValue[] = []
      await inTurns(items, (item) => {
        const written = lastWrite(parseStored(item) as KubeObject)
        if (written <= until) expired.push(item)
        else oldest = Math.min(oldest ?? Infinity, written)
      })
      await this.#delete(expired)
      after = more ? items.at(-1)?.key : undefined
    } while (after !== undefined)
    return oldest
  }

  /** Those that have been written since they were read are not deleted. */
  async #delete(expired: readonly KeyValue[]): Promise<void> {
    const { store } = this.#parts
    for (let index = 0; index < expired.length; index += deletedAtOnce) {
      this.#ending.signal.throwIfAborted()
      const together = expired.slice(index, index + deletedAtOnce)
      await Promise.all(
        together.map(({ key, modRevision }) =>
          store.txn({ compare: [{ key, modRevision }], operations: [{ type: "delete", key }], leaving: true }),
        ),
      )
    }
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    this.#timer?.cancel()
    this.#watcher?.close()
    await this.#sweeping
    await this.#following
  }
}

/**
 * In milliseconds since the epoch. Every write is recorded in managedFields, unless the object has none. Clients may give them times of any
 * year.
 */
function lastWrite({ metadata }: KubeObject): number {
  let last = millisecondsOf(metadata.creationTimestamp ?? "")
  for (const { time } of metadata.managedFields ?? [])
    if (typeof time === "string") last = Math.max(last, millisecondsOf(time))
  return last
}
