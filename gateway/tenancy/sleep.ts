// Lets unused tenants fall asleep, and wakes tenants one after the other, for new followers and when something of theirs is due. A
// single timer for all awake tenants, and one for what is due next.

import { setImmediate as nextTurn } from "node:timers/promises"
import { pause, systemClock, type Timer } from "../../client/clock.ts"
import { DelayHeap } from "../../client/workqueue/delay-heap.ts"
import { Introductions, Rests } from "./introductions.ts"
import type { TenantEntry } from "./tenant-entry.ts"

export interface SleepLimits {
  /** A tenant that is unused for this long falls asleep. */
  tenantIdleMs: number
  /** Awake tenants. Beyond: the least recently used tenants without work in progress fall asleep earlier, those that are expected last. */
  maxAwakeTenants: number
  /** Estimated memory of all awake tenants. Beyond: the same. */
  maxAwakeBytes: number
}

/** Minimum interval between sweeps. */
const sweepMs = 1_000

/**
 * A tenant stays awake for this many times the duration of its waking, as if it had just been used. So a tenant that is woken every
 * few seconds without a user takes at most a thousandth of the thread.
 */
const wakeCostFactor = 1_000

/** How long after the start sleeping tenants begin to be woken for followers of all tenants. */
const firstCallMs = 1_000

/** How long after the start they wait for followers that are still to come, so that each is woken once for all. */
const lastCallMs = 60_000

/** Even if too many tenants are awake, one that was just used stays awake: its next request is probably about to arrive. */
const minAwakeMs = 500

interface TenantNeeds {
  /** A component has queued work for the tenant. */
  isBusy: (tenant: string) => boolean
  /** The tenant does not sleep, even if too many are awake. */
  isHeld: (entry: TenantEntry) => boolean
  /** The tenant stays awake unused, as long as there are not too many. */
  isExpected: (entry: TenantEntry) => boolean
}

export class Sleep implements Disposable {
  readonly #limits: SleepLimits
  readonly #tenants: TenantNeeds
  readonly #awake = new Set<TenantEntry>()
  /** What is awake does not wait for what sleeps. */
  readonly #toAwake: Introductions
  readonly #toSleeping: Introductions
  /** They end when further followers of all tenants have come. */
  readonly #coming = new Set<Promise<unknown>>()
  /** Callers that wait for the next sweep. */
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  /** Sleeping tenants of which something will be due. */
  readonly #due = new DelayHeap<TenantEntry>()
  #dueTimer: Timer | undefined
  readonly #began = performance.now()
  readonly #ending = new AbortController()

  constructor(limits: SleepLimits, tenants: TenantNeeds) {
    this.#limits = limits
    this.#tenants = tenants
    const { signal } = this.#ending
    const rests = new Rests()
    this.#toAwake = new Introductions((entry) => this.#isStillAwake(entry), rests, signal)
    this.#toSleeping = new Introductions((entry) => entry.isAwake || this.#room(), rests, signal)
  }

  get awake(): number {
    return this.#awake.size
  }

  /** Estimated memory of all awake tenants. */
  get awakeBytes(): number {
    let bytes = 0
    for (const entry of this.#awake) bytes += entry.memoryBytes
    return bytes
  }

  woke(entry: TenantEntry): void {
    this.#awake.add(entry)
    this.#due.remove(entry.record.tenant.uid)
    this.#timer ??= setInterval(() => this.#sweep(), Math.min(sweepMs, this.#limits.tenantIdleMs / 2)).unref()
  }

  forget(entry: TenantEntry): void {
    this.#awake.delete(entry)
    this.#toAwake.delete(entry)
    this.#toSleeping.delete(entry)
    this.#due.remove(entry.record.tenant.uid)
  }

  /** Wakes the sleeping tenant at that time, in milliseconds since the epoch. */
  callAt(entry: TenantEntry, at: number): void {
    this.#due.add(entry.record.tenant.uid, entry, at)
    this.#waitForDue()
  }

  #waitForDue(): void {
    this.#dueTimer?.cancel()
    const { next } = this.#due
    if (next === undefined || this.#disposed) return
    this.#dueTimer = systemClock.after(next - systemClock.now(), () => {
      for (let due; (due = this.#due.take(systemClock.now())) !== undefined;) this.call(due)
      this.#waitForDue()
    })
  }

  /** Queues the tenant to be introduced to its followers, which receive its objects; if it sleeps, it is woken for that. */
  call(entry: TenantEntry): void {
    if (entry.isAwake) this.#toAwake.add(entry)
    else this.#toSleeping.add(entry)
  }

  #isStillAwake(entry: TenantEntry): boolean {
    if (!entry.isAwake) this.#toSleeping.add(entry)
    return entry.isAwake
  }

  /** Further followers of all tenants will have come when `coming` has ended. */
  awaitFollowers(coming: Promise<unknown>): void {
    this.#coming.add(coming)
    const come = (): void => void this.#coming.delete(coming)
    coming.then(come, come)
  }

  /** Resolves with true when another tenant may be woken; just after the start of the process requests go first. */
  async #room(): Promise<true> {
    const sinceStart = performance.now() - this.#began
    await this.#pause(firstCallMs - sinceStart)
    if (this.#coming.size > 0 && sinceStart < lastCallMs) {
      await Promise.race([Promise.allSettled(this.#coming), this.#pause(lastCallMs - sinceStart)])
      await nextTurn() // the tenants are called for them in this turn
    }
    // Waits for only one sweep: memory is freed at once or not until others have finished, and the tenant must be woken in any
    // case.
    if (this.awakeBytes >= this.#limits.maxAwakeBytes && this.#awake.size > 0) await this.#swept()
    while (this.#awake.size >= this.#limits.maxAwakeTenants && this.#makesRoom() && !this.#disposed) await this.#swept()
    return true
  }

  /** Otherwise one sleeping tenant after the other is woken beyond the limit: something may be due in it. */
  #makesRoom(): boolean {
    const { isHeld, isExpected } = this.#tenants
    return this.#awake.values().some((entry) => !isHeld(entry) && !isExpected(entry))
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0 && !this.#disposed) await pause(systemClock, ms, this.#ending.signal)
  }

  #swept(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #sweep(): void {
    const { tenantIdleMs, maxAwakeTenants, maxAwakeBytes } = this.#limits
    let excess = this.#awake.size - maxAwakeTenants
    let excessBytes = this.awakeBytes - maxAwakeBytes
    const { isBusy } = this.#tenants
    for (const { entry, isExpected } of this.#inTurn()) {
      const { idleMs } = entry.presence
      const isUnused = idleMs >= tenantIdleMs && !isExpected && this.#hasAmortized(entry)
      const isDue = isUnused || ((excess > 0 || excessBytes > 0) && idleMs >= minAwakeMs)
      const { memoryBytes } = entry
      if (!isDue || isBusy(entry.record.tenant.name) || !entry.sleep()) continue
      this.#awake.delete(entry)
      excess--
      excessBytes -= memoryBytes
    }
    if (this.#awake.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#release()
  }

  /** The tenants that may fall asleep, the first ones first. */
  #inTurn(): { entry: TenantEntry; isExpected: boolean }[] {
    const { isHeld, isExpected } = this.#tenants
    const turns = [...this.#awake].flatMap((entry) =>
      isHeld(entry) ? [] : [{ entry, isExpected: isExpected(entry), lastUsed: entry.presence.lastUsed }],
    )
    return turns.sort((a, b) => Number(a.isExpected) - Number(b.isExpected) || a.lastUsed - b.lastUsed)
  }

  #hasAmortized({ introduced }: TenantEntry): boolean {
    // New followers come when a process starts: thousands of tenants would stay awake for nothing.
    if (introduced === undefined || introduced.isToNew) return true
    const { at, tookMs } = introduced
    return performance.now() - at >= Math.min(tookMs * wakeCostFactor, this.#limits.tenantIdleMs)
  }

  #release(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  get #disposed(): boolean {
    return this.#ending.signal.aborted
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
    clearInterval(this.#timer)
    this.#dueTimer?.cancel()
    this.#release()
  }
}
