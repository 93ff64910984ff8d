// The workqueue of controllers and syncer: keys, never objects. A key waits at most once, is never handed to two workers
// at the same time, and comes again when it was added while being worked on. Keys belong to groups (tenants), which are
// served in weighted round robin, so a greedy group waits behind itself.
// Semantics of a single key: k8s.io/client-go/util/workqueue (queue.go, delaying_queue.go, rate_limiting_queue.go), but for
// addAfter(): the next reconcile decides anew.

import { systemClock, type Clock, type Timer } from "../clock.ts"
import type { QueueMetrics } from "../metrics/queue-metrics.ts"
import { DelayHeap } from "./delay-heap.ts"
import { RateLimiter, type RetryLimits } from "./rate-limiter.ts"
import { RoundRobin, type RoundRobinOptions } from "./round-robin.ts"
import { Waiters } from "./waiters.ts"

export interface FairQueueLimits extends RetryLimits {
  /** Keys waiting in one group. Beyond it new keys are refused; when the group has drained, `refill` is called for it. */
  keysPerGroup: number
}

const defaultKeysPerGroup = 1_000_000

export interface FairQueueOptions<K> extends RoundRobinOptions {
  identify(key: K): string
  group(key: K): string
  limits?: Partial<FairQueueLimits>
  /** The group had to refuse keys and has now drained: its owner adds all of its keys again. */
  refill?(group: string): void
  clock?: Clock
  /** Told of each key. */
  metrics?: QueueMetrics | undefined
}

export class FairQueue<K> implements Disposable {
  readonly #options: FairQueueOptions<K>
  readonly #clock: Clock
  readonly #keysPerGroup: number
  readonly #rateLimiter: RateLimiter
  readonly #turns: RoundRobin<K>
  /** Ids that wait, or that were added again while being worked on. */
  readonly #dirty = new Map<string, K>()
  readonly #processing = new Set<string>()
  readonly #delayed = new DelayHeap<K>()
  readonly #refused = new Set<string>()
  readonly #waiters = new Waiters<K>()
  #timer: { due: number; timer: Timer } | undefined
  #disposed = false

  constructor(options: FairQueueOptions<K>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#turns = new RoundRobin(options)
    this.#keysPerGroup = options.limits?.keysPerGroup ?? defaultKeysPerGroup
    this.#rateLimiter = new RateLimiter(options.limits)
  }

  /** Keys that wait to be taken (not those being worked on or delayed). */
  get size(): number {
    return this.#turns.size
  }

  /** Keys taken and not yet done. */
  get processing(): number {
    return this.#processing.size
  }

  /** Keys waiting for their time. */
  get delayed(): number {
    return this.#delayed.size
  }

  sizeOf(group: string): number {
    return this.#turns.sizeOf(group)
  }

  /** Keys of the group wait or are being worked on. Those delayed do not count: they come when their time has come. */
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
   * Unless the key is taken before, for whatever reason: then all there is is looked at, and whoever looks says when again. What is
   * over would otherwise be looked at once more, and wake a tenant for it.
   */
  addAfter(key: K, ms: number): void {
    if (this.#disposed) return
    // It would never be due, and no other delayed key after it.
    if (Number.isNaN(ms)) throw new RangeError("a key has to be due at some time")
    this.#options.metrics?.retried()
    if (ms <= 0) {
      this.add(key)
      return
    }
    this.#delayed.add(this.#options.identify(key), key, this.#clock.now() + ms)
    this.#arm()
  }

  addRateLimited(key: K): void {
    this.addAfter(key, this.#rateLimiter.next(this.#options.identify(key)))
  }

  forget(key: K): void {
    this.#rateLimiter.forget(this.#options.identify(key))
  }

  retries(key: K): number {
    return this.#rateLimiter.retries(this.#options.identify(key))
  }

  /** The next key, or undefined when the signal ends or the queue is disposed. The taker must call done(). */
  get(signal: AbortSignal): Promise<K | undefined> {
    if (this.#disposed || signal.aborted) return Promise.resolve(undefined)
    const key = this.#take()
    if (key !== undefined) return Promise.resolve(key)
    return this.#waiters.wait(signal)
  }

  done(key: K): void {
    const id = this.#options.identify(key)
    this.#processing.delete(id)
    this.#options.metrics?.done(id)
    this.#turns.done(this.#options.group(key))
    // More than one when the group may now have more in work than before.
    while (this.#waiters.size > 0 && this.#turns.hasTurn) this.#serve()
    const again = this.#dirty.get(id)
    if (again !== undefined && !this.#disposed) this.#push(this.#options.group(again), again)
  }

  /** Forgets everything of a group that is gone. Keys being worked on finish. */
  removeGroup(name: string): void {
    this.#turns.remove(name)
    this.#refused.delete(name)
    for (const [id, key] of this.#dirty) {
      if (this.#options.group(key) !== name) continue
      this.#dirty.delete(id)
      this.#options.metrics?.dropped(id)
      this.#rateLimiter.forget(id)
    }
    this.#delayed.removeWhere((key) => {
      if (this.#options.group(key) !== name) return false
      this.#rateLimiter.forget(this.#options.identify(key))
      return true
    })
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

  #push(group: string, key: K): void {
    this.#turns.add(group, key)
    this.#serve()
  }

  /** One key has come within reach: whoever waits first gets the one whose turn it is. */
  #serve(): void {
    if (this.#turns.hasTurn) this.#waiters.serve(() => this.#take())
  }

  #take(): K | undefined {
    const taken = this.#turns.take()
    if (taken === undefined) return undefined
    const { key, group, isLast } = taken
    const id = this.#options.identify(key)
    this.#dirty.delete(id)
    this.#delayed.remove(id)
    this.#processing.add(id)
    this.#options.metrics?.taken(id)
    if (isLast && this.#refused.delete(group)) this.#options.refill?.(group)
    return key
  }

  /** One timer for all delayed keys, set for the earliest. */
  #arm(): void {
    const due = this.#delayed.next
    if (due === undefined || (this.#timer !== undefined && this.#timer.due <= due)) return
    this.#timer?.timer.cancel()
    const timer = this.#clock.after(due - this.#clock.now(), () => this.#release())
    this.#timer = { due, timer }
  }

  #release(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    for (let key = this.#delayed.take(now); key !== undefined; key = this.#delayed.take(now)) this.add(key)
    this.#arm()
  }
}
