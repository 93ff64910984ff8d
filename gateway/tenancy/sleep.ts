// Lets tenants fall asleep that nobody needs, and wakes in turn those that somebody new wants to follow. One timer for all,
// and none while everybody sleeps.

import { setImmediate as nextTurn } from "node:timers/promises"
import { pause, systemClock } from "../../client/clock.ts"
import type { TenantEntry } from "./tenant-entry.ts"

export interface SleepLimits {
  /** A tenant nobody has used for so long falls asleep. */
  tenantIdleMs: number
  /** Awake tenants. Beyond it those used longest ago fall asleep earlier, as far as nothing is under way in them. */
  maxAwakeTenants: number
  /** Memory that is held for awake tenants together, estimated. Beyond it the same. */
  maxAwakeBytes: number
}

/** How often it is looked, at most. */
const sweepMs = 1_000

/**
 * A tenant whose waking took a while stays awake for so many times that, as if it had just been used: who is woken every few
 * seconds for nobody's sake costs at most a thousandth of the thread.
 */
const wakingWorth = 1_000

/** How long after the start those asleep are woken, in turn, for who follows all tenants. */
const firstCallMs = 1_000

/** Also when too many are awake, a tenant just used is left alone: its next request is probably on its way. */
const minAwakeMs = 500

export class Sleep implements Disposable {
  readonly #limits: SleepLimits
  /** Somebody works on the tenant, or will at once. */
  readonly #isBusy: (tenant: string) => boolean
  readonly #awake = new Set<TenantEntry>()
  /** To be woken, in turn. */
  readonly #called = new Set<TenantEntry>()
  /** For the next sweep. */
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #calling = false
  readonly #began = performance.now()
  readonly #ending = new AbortController()

  constructor(limits: SleepLimits, isBusy: (tenant: string) => boolean) {
    this.#limits = limits
    this.#isBusy = isBusy
  }

  get awake(): number {
    return this.#awake.size
  }

  /** Memory that is held for those awake, estimated. */
  get awakeBytes(): number {
    let bytes = 0
    for (const entry of this.#awake) bytes += entry.memoryBytes
    return bytes
  }

  woke(entry: TenantEntry): void {
    this.#awake.add(entry)
    this.#timer ??= setInterval(() => this.#sweep(), Math.min(sweepMs, this.#limits.tenantIdleMs / 2)).unref()
  }

  forget(entry: TenantEntry): void {
    this.#awake.delete(entry)
    this.#called.delete(entry)
  }

  /** It is woken when its turn comes, so that its followers learn what it has. */
  call(entry: TenantEntry): void {
    this.#called.add(entry)
    if (this.#calling) return
    this.#calling = true
    void this.#callAll().finally(() => {
      this.#calling = false
    })
  }

  async #callAll(): Promise<void> {
    await nextTurn() // who comes in this turn, for many kinds, is told in one go
    for (const entry of this.#called) {
      if (!entry.isAwake) await this.#room()
      if (this.#disposed) return
      this.#called.delete(entry)
      const began = performance.now()
      // Nobody has used it: unless they find something to do it sleeps on when that has paid off.
      await entry.introduce(false)
      await nextTurn()
      // Half of the time is others': a process that starts with thousands of tenants answers all the while.
      await this.#pause(performance.now() - began)
    }
  }

  /** Until another tenant may be awake; requests come first when the process has just started. */
  async #room(): Promise<void> {
    await this.#pause(firstCallMs - (performance.now() - this.#began))
    // Room is made at once or not before somebody has done: who is called must hear of it all the same.
    if (this.awakeBytes >= this.#limits.maxAwakeBytes && this.#awake.size > 0) await this.#swept()
    while (this.#awake.size >= this.#limits.maxAwakeTenants && !this.#disposed) await this.#swept()
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0 && !this.#disposed) await pause(systemClock, ms, this.#ending.signal)
  }

  #swept(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #sweep(): void {
    const awake = [...this.#awake].sort((a, b) => a.presence.lastUsed - b.presence.lastUsed)
    const { tenantIdleMs, maxAwakeTenants, maxAwakeBytes } = this.#limits
    let excess = awake.length - maxAwakeTenants
    let excessBytes = this.awakeBytes - maxAwakeBytes
    for (const entry of awake) {
      const { idleMs } = entry.presence
      const isDue =
        (idleMs >= tenantIdleMs && this.#hasPaidOff(entry)) || ((excess > 0 || excessBytes > 0) && idleMs >= minAwakeMs)
      const { memoryBytes } = entry
      if (!isDue || this.#isBusy(entry.record.tenant.name) || !entry.sleep()) continue
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

  #hasPaidOff({ introduced }: TenantEntry): boolean {
    if (introduced === undefined) return true
    const { at, tookMs } = introduced
    return performance.now() - at >= Math.min(tookMs * wakingWorth, this.#limits.tenantIdleMs)
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
    this.#release()
  }
}
