// The workqueue of controllers and syncer: keys, never objects. A key waits at most once, is never handed to two workers
// at the same time, and comes again when it was added while being worked on. Keys belong to groups (tenants), which are
// served in weighted round robin, so a greedy group waits behind itself.
// Semantics of a single key: k8s.io/client-go/util/workqueue (queue.go, delaying_queue.go, rate_limiting_queue.go), but for
// addAfter(): the next reconcile decides anew.

import { systemClock, type Clock, type Timer } from "../clock.ts"
import type { QueueMetrics } from "../metrics/queue-metrics.ts"
import { DelayHeap } from "./delay-heap.ts"
import { RateLimiter, type RetryLimits } from "./rate-limiter.ts"
import { Waiters } from "./waiters.ts"

export interface FairQueueLimits extends RetryLimits {
  /** Keys waiting in one group. Beyond it new keys are refused; when the group has drained, `refill` is called for it. */
  keysPerGroup: number
}

const defaultKeysPerGroup = 1_000_000

export interface FairQueueOptions<K> {
  identify(key: K): string
  group(key: K): string
  /** How many keys a group may take in one round; whole, at least 1. Asked when the group's turn begins. */
  weight?(group: string): number
  limits?: Partial<FairQueueLimits>
  /**
   * Keys of one group worked on at the same time, at least 1. Beyond it the group's keys wait, and others' go on. Default: any.
   */
  maxWorking?: number | ((group: string) => number)
  /** The group had to refuse keys and has now drained: its owner adds all of its keys again. */
  refill?(group: string): void
  clock?: Clock
  /** Told of each key. */
  metrics?: QueueMetrics | undefined
}

interface Group<K> {
  name: string
  /** Waiting keys in order of arrival; those before `head` are taken. */
  keys: (K | undefined)[]
  head: number
  /** How many more it may take in this turn. */
  credit: number
  /** Whose turn comes after it. */
  next: Group<K> | undefined
}

export class FairQueue<K> implements Disposable {
  readonly #options: FairQueueOptions<K>
  readonly #clock: Clock
  readonly #keysPerGroup: number
  readonly #rateLimiter: RateLimiter
  /** Groups with waiting keys; one that empties is dropped. */
  readonly #groups = new Map<string, Group<K>>()
  /** The same groups in the order of their turns, linked; the first one's turn it is. */
  #first: Group<K> | undefined
  #last: Group<K> | undefined
  /** Ids that wait, or that were added again while being worked on. */
  readonly #dirty = new Map<string, K>()
  readonly #processing = new Set<string>()
  /** How many of each group are being worked on. */
  readonly #working = new Map<string, number>()
  readonly #delayed = new DelayHeap<K>()
  readonly #refused = new Set<string>()
  readonly #waiters = new Waiters<K>()
  /** Groups with waiting keys that have as many in work as they may: they have no turns until one is done. */
  readonly #parked = new Set<Group<K>>()
  #waiting = 0
  #timer: { due: number; timer: Timer } | undefined
  #disposed = false

  constructor(options: FairQueueOptions<K>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#keysPerGroup = options.limits?.keysPerGroup ?? defaultKeysPerGroup
    this.#rateLimiter = new RateLimiter(options.limits)
  }

  /** Keys that wait to be taken (not those being worked on or delayed). */
  get size(): number {
    return this.#waiting
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
    const found = this.#groups.get(group)
    return found === undefined ? 0 : found.keys.length - found.head
  }

  /** Keys of the group wait or are being worked on. Those delayed do not count: they come when their time has come. */
  isBusy(group: string): boolean {
    return this.sizeOf(group) > 0 || this.#working.has(group) || this.#refused.has(group)
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
    const group = this.#options.group(key)
    const left = (this.#working.get(group) ?? 1) - 1
    if (left === 0) this.#working.delete(group)
    else this.#working.set(group, left)
    this.#unpark(group)
    const again = this.#dirty.get(id)
    if (again !== undefined && !this.#disposed) this.#push(this.#options.group(again), again)
  }

  /** Forgets everything of a group that is gone. Keys being worked on finish. */
  removeGroup(name: string): void {
    const group = this.#groups.get(name)
    if (group !== undefined) this.#unlink(group)
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
    this.#groups.clear()
    this.#parked.clear()
    this.#first = undefined
    this.#last = undefined
    this.#dirty.clear()
    this.#waiting = 0
    this.#waiters[Symbol.dispose]()
  }

  #push(name: string, key: K): void {
    const group = this.#groups.get(name)
    if (group !== undefined) group.keys.push(key)
    else this.#append({ name, keys: [key], head: 0, credit: 0, next: undefined })
    this.#waiting++
    this.#serve()
  }

  /** One key has come within reach: whoever waits first gets the one whose turn it is. */
  #serve(): void {
    if (this.#first !== undefined) this.#waiters.serve(() => this.#take())
  }

  #take(): K | undefined {
    const group = this.#first
    if (group === undefined) return undefined
    if (group.credit <= 0) group.credit = Math.max(1, Math.floor(this.#options.weight?.(group.name) ?? 1))
    const key = group.keys[group.head] as K
    group.keys[group.head++] = undefined
    group.credit--
    this.#waiting--
    const id = this.#options.identify(key)
    this.#dirty.delete(id)
    this.#delayed.remove(id)
    this.#processing.add(id)
    this.#options.metrics?.taken(id)
    this.#working.set(group.name, (this.#working.get(group.name) ?? 0) + 1)
    if (this.#isFull(group.name)) this.#park(group)
    this.#endTurn(group)
    return key
  }

  /** After a key was taken: drops the group when it is empty, sends it to the end when its turn is over. */
  #endTurn(group: Group<K>): void {
    if (group.head === group.keys.length) {
      this.#unlink(group)
      if (this.#refused.delete(group.name)) this.#options.refill?.(group.name)
      return
    }
    // Taken slots are given back once they are half of the array, which keeps taking O(1) on average.
    if (group.head > 64 && group.head * 2 > group.keys.length) {
      group.keys.splice(0, group.head)
      group.head = 0
    }
    if (group.credit > 0 || group.next === undefined || this.#parked.has(group)) return
    this.#first = group.next
    group.next = undefined
    if (this.#last !== undefined) this.#last.next = group
    this.#last = group
  }

  #isFull(name: string): boolean {
    const { maxWorking } = this.#options
    const working = this.#working.get(name)
    if (maxWorking === undefined || working === undefined) return false
    return working >= (typeof maxWorking === "number" ? maxWorking : maxWorking(name))
  }

  /** It is the first in the order of turns. */
  #park(group: Group<K>): void {
    this.#parked.add(group)
    this.#first = group.next
    if (this.#last === group) this.#last = undefined
    group.next = undefined
    group.credit = 0
  }

  #unpark(name: string): void {
    const group = this.#groups.get(name)
    if (group === undefined || !this.#parked.has(group) || this.#isFull(name)) return
    this.#parked.delete(group)
    this.#link(group)
    // More than one when it may now have more in work than before.
    while (this.#waiters.size > 0 && this.#first !== undefined) this.#serve()
  }

  #append(group: Group<K>): void {
    this.#groups.set(group.name, group)
    if (this.#isFull(group.name)) this.#parked.add(group)
    else this.#link(group)
  }

  #link(group: Group<K>): void {
    if (this.#last === undefined) this.#first = group
    else this.#last.next = group
    this.#last = group
  }

  #unlink(group: Group<K>): void {
    this.#groups.delete(group.name)
    this.#waiting -= group.keys.length - group.head
    if (this.#parked.delete(group)) return
    let before: Group<K> | undefined
    // The group whose turn it is is the first one: only removeGroup() walks.
    for (let at = this.#first; at !== undefined && at !== group; at = at.next) before = at
    if (before === undefined) this.#first = group.next
    else before.next = group.next
    if (this.#last === group) this.#last = before
    group.next = undefined
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
