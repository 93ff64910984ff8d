// The workqueue of controllers and syncer. It contains keys, never objects. A key is queued at most once, is never processed by two
// workers at the same time, and is queued again if it was added while being processed. Keys belong to groups (tenants), which are
// served in weighted round robin, so a greedy group delays only itself.
// Semantics of a single key: k8s.io/client-go/util/workqueue (queue.go, delaying_queue.go, rate_limiting_queue.go), except for
// addAfter(): a reconcile before the delay has passed cancels it.

import { systemClock, type Clock, type Timer } from "../clock.ts"
import type { QueueMetrics } from "../metrics/queue-metrics.ts"
import { DelayHeap } from "./delay-heap.ts"
import { RateLimiter, type RetryLimits } from "./rate-limiter.ts"
import { RoundRobin, type RoundRobinOptions } from "./round-robin.ts"
import { KeyWaiters } from "./key-waiters.ts"

interface FairQueueLimits extends RetryLimits {
  /** Maximum number of queued keys per group. Further keys are refused; `refill` is called when the group has drained. */
  keysPerGroup: number
}

const defaultKeysPerGroup = 1_000_000

export interface FairQueueOptions<K> extends RoundRobinOptions {
  identify(key: K): string
  group(key: K): string
  limits?: Partial<FairQueueLimits>
  /** Called when a group that refused keys has drained: the owner must add all keys of the group again. */
  refill?(group: string): void
  clock?: Clock
  /** Counts the keys. */
  metrics?: QueueMetrics | undefined
}

export class FairQueue<K> implements Disposable {
  readonly #options: FairQueueOptions<K>
  readonly #clock: Clock
  readonly #keysPerGroup: number
  readonly #rateLimiter: RateLimiter
  /** By group and id, keys that have failed and not been forgotten since. */
  readonly #failed = new Map<string, Map<string, K>>()
  readonly #turns: RoundRobin<K>
  /** Ids that are queued or taken until the work on them begins, or that were added again since. */
  readonly #dirty = new Map<string, K>()
  readonly #processing = new Set<string>()
  readonly #delayed = new DelayHeap<K>()
  readonly #refused = new Set<string>()
  readonly #waiters = new KeyWaiters<K>()
  #timer: { due: number; timer: Timer } | undefined
  #disposed = false

  constructor(options: FairQueueOptions<K>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#turns = new RoundRobin(options)
    this.#keysPerGroup = options.limits?.keysPerGroup ?? defaultKeysPerGroup
    this.#rateLimiter = new RateLimiter(options.limits)
  }

  /** Number of queued keys (without those being processed or delayed). */
  get size(): number {
    return this.#turns.size
  }

  /** Number of keys being processed. */
  get processing(): number {
    return this.#processing.size
  }

  /** Number of delayed keys. */
  get delayed(): number {
    return this.#delayed.size
  }

  sizeOf(group: string): number {
    return this.#turns.sizeOf(group)
  }

  /** Keys of the group are queued or being processed. Delayed keys do not count. */
  isBusy(group: string): boolean {
    return this.sizeOf(group) > 0 || this.#turns.isWorking(group) || this.#refused.has(group)
  }

  add(key: K): void {
    if (this.#disposed) return
    const id = this.#options.identify(key)
    if (this.#dirty.has(id)) return
    if (this.#processing.has(id)) {
      this.#dirty.set(id, key)
      this.#options.metrics?.added(id)
      return
    }
    const group = this.#options.group(key)
    if (this.sizeOf(group) >= this.#keysPerGroup) {
      this.#refused.add(group)
      return
    }
    this.#dirty.set(id, key)
    this.#options.metrics?.added(id)
    this.#push(group, key)
  }

  /**
   * Adds the key after a delay, unless it is processed before for another reason: that reconcile sees the current state and decides
   * about the next one. Otherwise an outdated delay would cause a needless reconcile and wake the tenant for it.
   */
  addAfter(key: K, ms: number): void {
    if (this.#disposed) return
    // NaN would never be due, and would block all later delayed keys.
    if (Number.isNaN(ms)) throw new RangeError("a key has to be due at some time")
    this.#options.metrics?.retried()
    if (ms <= 0) {
      this.add(key)
      return
    }
    this.#delayed.add(this.#options.identify(key), key, this.#clock.elapsed() + ms)
    this.#arm()
  }

  addRateLimited(key: K): void {
    if (this.#disposed) return
    this.#setFailed(key)
    this.addAfter(key, this.#rateLimiter.next(this.#options.identify(key)))
  }

  /** It has succeeded. */
  forget(key: K): void {
    const id = this.#options.identify(key)
    this.#rateLimiter.forget(id)
    const group = this.#options.group(key)
    const ofGroup = this.#failed.get(group)
    if (ofGroup?.delete(id) === true && ofGroup.size === 0) this.#failed.delete(group)
  }

  /** Adds a key that has failed after a delay. From then on its failures are counted anew. */
  giveUp(key: K, ms: number): void {
    this.#rateLimiter.forget(this.#options.identify(key))
    this.#setFailed(key)
    this.addAfter(key, ms)
  }

  /** Adds the keys of the group that have failed: they may succeed now. Their numbers of failures stay. */
  addFailed(group: string): void {
    for (const key of this.#failed.get(group)?.values() ?? []) this.add(key)
  }

  /** And has not been forgotten since; also if it has been given up. */
  hasFailed(key: K): boolean {
    return this.#failed.get(this.#options.group(key))?.has(this.#options.identify(key)) === true
  }

  /** Its consecutive failures, unless it has been given up. */
  retries(key: K): number {
    return this.#rateLimiter.retries(this.#options.identify(key))
  }

  /** The next key, or undefined when the signal ends or the queue is disposed. The taker must call begin(), then done(). */
  get(signal: AbortSignal): Promise<K | undefined> {
    if (this.#disposed || signal.aborted) return Promise.resolve(undefined)
    const key = this.#take()
    if (key !== undefined) return Promise.resolve(key)
    return this.#waiters.wait(signal)
  }

  /** The work on a taken key begins: what it is added for from now on is not seen, so that it comes again. */
  begin(key: K): void {
    const id = this.#options.identify(key)
    this.#dirty.delete(id)
    this.#delayed.remove(id)
    this.#options.metrics?.begun(id)
  }

  done(key: K): void {
    const id = this.#options.identify(key)
    this.#processing.delete(id)
    this.#options.metrics?.done(id)
    this.#turns.done(this.#options.group(key))
    const again = this.#dirty.get(id) // before others are taken: a refill may add it anew
    // More than one if the group may now process more keys than before.
    while (this.#waiters.size > 0 && this.#turns.hasTurn) this.#serve()
    if (again !== undefined && !this.#disposed) this.#push(this.#options.group(again), again)
  }

  /** Forgets all keys of a deleted group. Keys being processed finish. */
  removeGroup(name: string): void {
    this.#turns.remove(name)
    this.#refused.delete(name)
    for (const [id, key] of this.#dirty) {
      if (this.#options.group(key) !== name) continue
      this.#dirty.delete(id)
      this.#options.metrics?.dropped(id)
    }
    this.#delayed.removeWhere((key) => this.#options.group(key) === name)
    for (const id of this.#failed.get(name)?.keys() ?? []) this.#rateLimiter.forget(id)
    this.#failed.delete(name)
  }

  [Symbol.dispose](): void {
    this.#disposed = true
    this.#timer?.timer.cancel()
    this.#timer = undefined
    this.#delayed.clear()
    for (const id of this.#dirty.keys()) this.#options.metrics?.dropped(id)
    this.#turns.clear()
    this.#dirty.clear()
    this.#waiters[Symbol.dispose]()
  }

  #setFailed(key: K): void {
    const group = this.#options.group(key)
    const ofGroup = this.#failed.get(group) ?? new Map<string, K>()
    this.#failed.set(group, ofGroup.set(this.#options.identify(key), key))
  }

  #push(group: string, key: K): void {
    this.#turns.add(group, key)
    this.#serve()
  }

  /** A key has become available: the first waiter gets the key whose turn it is. */
  #serve(): void {
    if (this.#turns.hasTurn) this.#waiters.serve(() => this.#take())
  }

  #take(): K | undefined {
    const taken = this.#turns.take()
    if (taken === undefined) return undefined
    const { key, group, isLast } = taken
    const id = this.#options.identify(key)
    this.#processing.add(id)
    if (isLast && this.#refused.delete(group)) this.#options.refill?.(group)
    return key
  }

  /** Sets the single timer for delayed keys to the earliest one. */
  #arm(): void {
    const due = this.#delayed.next
    if (due === undefined || (this.#timer !== undefined && this.#timer.due <= due)) return
    this.#timer?.timer.cancel()
    const timer = this.#clock.after(due - this.#clock.elapsed(), () => this.#release())
    this.#timer = { due, timer }
  }

  #release(): void {
    this.#timer = undefined
    const now = this.#clock.elapsed()
    for (let key = this.#delayed.take(now); key !== undefined; key = this.#delayed.take(now)) this.add(key)
    this.#arm()
  }
}
