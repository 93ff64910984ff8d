// Fair sharing of the one thread that serves all control planes: a large amount of work for one must not delay small work for
// others. Work takes a turn before each piece (the start of a request, its response, a part of a list, an event for one watch). It
// continues at once while the current turn of the event loop is short, and is queued otherwise. Queued work continues round robin
// over control planes, each with the same amount of time. Newly arrived control planes go first, and a few of them do not even wait
// for the next turn of the loop, so a control plane with little work is delayed only by work in progress, not by queued work. What
// the gateway's own parts do for a control plane has a place in the line of its own: its clients cannot delay it.
//
// Work that may be long calls pause() in between, which waits only if the turn has used up its time.
//
//   fresh: not in the line since its last round ──its time is used──▶ line: one after the other, each for `quantumMs`
//
// No order helps against a single piece of work that takes long: everyone waits for its end. A control plane that causes many of them
// rests in between (thread-debts.ts), and comes back as the last in the line.
//
// Modelled on "FlowQueue-CoDel" (RFC 8290), with milliseconds of the thread instead of bytes.

import type { Log } from "../../client/log.ts"
import { workedMs } from "../../apimachinery/thread-time.ts"
import { Presence } from "../tenancy/presence.ts"
import { type DebtLimits, longMs, ThreadDebts } from "./thread-debts.ts"

/** Work continues in one turn of the event loop until this time has passed; then sockets and timers are served. */
const turnMs = 1

/** The time of a control plane before the next one's turn. */
const quantumMs = 0.5

/** Control planes outside the line that may continue at once per turn of the event loop, regardless of queued work. */
const passesPerTurn = 4

/** Trifles per turn of the event loop, for all: each takes about a microsecond. */
const triflesPerTurn = 2_048

/** Grants scheduled together. Each runs in its own callback, so that its time can be measured. */
const grantsAtOnce = 32

/** A control plane's clients together (its Presence), or its own parts together (the ControlPlane). */
export type Party = object

interface Waiting {
  readonly calls: (() => void)[]
  /** Remaining milliseconds before it moves to the end of the line; negative if it took more. */
  left: number
}

interface TurnsParts {
  limits?: DebtLimits
  log?: Log
  /** A clock in milliseconds. */
  now?: () => number
  /** The thread's processor time in milliseconds. */
  worked?: () => number
}

interface Working {
  readonly who: Party
  /** undefined: it had not to wait. */
  readonly waiting: Waiting | undefined
  readonly since: number
  /** Of the thread's processor time, which passes only while it has a processor. */
  readonly workedBefore: number
}

export class Turns {
  readonly #fresh = new Map<Party, Waiting>()
  readonly #line = new Map<Party, Waiting>()
  /** Not served until its debt is paid. Not in `#count`. */
  readonly #resting = new Map<Party, Waiting>()
  readonly #debts: ThreadDebts
  #count = 0
  /** When the current turn began; undefined: nothing has run in it. */
  #began: number | undefined
  /** Whose work has begun or continued: the time until the next work, or the end of the turn, is charged to it. */
  #working: Working | undefined
  #scheduled = false
  #passes = passesPerTurn
  #trifles = triflesPerTurn
  /** Control planes that have continued without waiting in the current turn. */
  readonly #served: Party[] = []
  readonly #now: () => number
  readonly #workedMs: () => number

  readonly #log: Log | undefined

  constructor(parts: TurnsParts = {}) {
    const { limits, log, now = () => performance.now(), worked = workedMs } = parts
    this.#debts = new ThreadDebts(limits)
    this.#log = log
    this.#now = now
    this.#workedMs = worked
  }

  /** Returns undefined if the caller may continue at once. */
  take(who: Party): Promise<void> | undefined {
    const now = this.#now()
    const isShort = now - this.#begin(now) < turnMs
    if (this.#isFirst(who, isShort)) return this.#goOn(who, now)
    this.#account(now)
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /**
   * Returns undefined if the caller may continue because the current turn has not lasted as long as this, regardless of queued work.
   */
  pause(who: Party, stretchMs = turnMs): Promise<void> | undefined {
    const now = this.#now()
    if (now - this.#begin(now) < stretchMs && !this.#resting.has(who)) return this.#goOn(who, now)
    this.#account(now)
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /**
   * Whether something that takes a microsecond may be done at once, within the work of whoever has the thread: what would otherwise wake
   * others, each of whom takes a turn.
   */
  trifle(): boolean {
    if (this.#trifles === 0) return false
    if (!this.#scheduled) this.#begin(this.#now())
    this.#trifles--
    return true
  }

  /** The number of queued calls. */
  get waiting(): number {
    return this.#count
  }

  /** Whether it may continue regardless of others. */
  #isFirst(who: Party, isShort: boolean): boolean {
    if (this.#resting.has(who)) return false
    if (this.#count === 0 && isShort) {
      if (!this.#served.includes(who)) this.#served.push(who)
      return true
    }
    if (this.#passes === 0 || this.#served.includes(who) || this.#fresh.has(who) || this.#line.has(who)) return false
    this.#passes--
    // It has used its pass: for one round its further work is queued like others'.
    this.#line.set(who, { calls: [], left: quantumMs })
    return true
  }

  #goOn(who: Party, now: number, waiting?: Waiting): undefined {
    if (this.#working?.who === who && waiting === undefined) return
    this.#account(now)
    this.#working = { who, waiting, since: now, workedBefore: this.#workedMs() }
  }

  #wait(who: Party, call: () => void): void {
    const resting = this.#resting.get(who)
    if (resting !== undefined) {
      resting.calls.push(call)
      return
    }
    let waiting = this.#fresh.get(who) ?? this.#line.get(who)
    if (waiting === undefined) this.#fresh.set(who, (waiting = { calls: [], left: quantumMs }))
    waiting.calls.push(call)
    this.#count++
  }

  /** The start of the current turn: `now` if nothing has run in it. */
  #begin(now: number): number {
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.#turn())
    }
    return (this.#began ??= now)
  }

  #turn(): void {
    this.#account(this.#now())
    this.#began = undefined
    this.#passes = passesPerTurn
    this.#trifles = triflesPerTurn
    this.#served.length = 0
    if (this.#count === 0) {
      // A control plane without queued work when its turn comes leaves the line and is fresh when it returns.
      if (this.#line.size > 0) this.#line.clear()
      if (this.#fresh.size > 0) this.#fresh.clear()
      this.#scheduled = false
      return
    }
    // Each runs in the next turn of the loop, together with its continuations (promises), before the next one; the last one closes
    // the turn. The first one runs however long the thread took to get to it.
    setImmediate(() => {
      this.#began = this.#now()
      this.#account(this.#began)
      this.#grant(this.#began)
    })
    for (let index = Math.min(this.#count, grantsAtOnce); index > 1; index--) setImmediate(() => this.#grantInTime())
    setImmediate(() => this.#turn())
  }

  #grantInTime(): void {
    const now = this.#now()
    this.#account(now)
    if (this.#began === undefined || now - this.#began >= turnMs) return
    this.#grant(now)
  }

  /** Of all work before it account has been taken: whoever is granted does not rest. */
  #grant(now: number): void {
    const next = this.#next()
    if (next === undefined) return
    const [who, waiting] = next
    this.#count--
    this.#goOn(who, now, waiting)
    waiting.calls.shift()?.()
  }

  #account(now: number): void {
    const working = this.#working
    if (working === undefined) return
    this.#working = undefined
    const { who, waiting, since, workedBefore } = working
    if (waiting !== undefined) waiting.left -= now - since
    // The gateway's own parts do not rest: they may work for others, too.
    if (now - since < longMs || !(who instanceof Presence)) return
    const restMs = this.#debts.charge(who, Math.min(now - since, this.#workedMs() - workedBefore), now)
    if (restMs > 0) this.#rest(who, restMs)
  }

  #rest(who: Presence, restMs: number): void {
    if (this.#resting.has(who)) return
    this.#log?.warn(
      { tenant: who.tenant, restMs },
      "a tenant's requests hold the thread for long, again and again: they rest",
    )
    const waiting = this.#fresh.get(who) ?? this.#line.get(who) ?? { calls: [], left: 0 }
    this.#fresh.delete(who)
    this.#line.delete(who)
    this.#count -= waiting.calls.length
    this.#resting.set(who, waiting)
    setTimeout(() => {
      this.#resting.delete(who)
      waiting.left = quantumMs
      this.#line.set(who, waiting)
      this.#count += waiting.calls.length
      this.#begin(this.#now())
    }, restMs).unref()
  }

  #next(): readonly [Party, Waiting] | undefined {
    for (;;) {
      const from = this.#fresh.size > 0 ? this.#fresh : this.#line
      const [first] = from
      if (first === undefined) return undefined
      const [who, waiting] = first
      if (waiting.left > 0 && waiting.calls.length > 0) return first
      from.delete(who)
      if (waiting.left <= 0) waiting.left += quantumMs
      // A fresh control plane without further work stays in the line for one round, so that it is not fresh if it returns at once.
      if (waiting.calls.length > 0 || from === this.#fresh) this.#line.set(who, waiting)
    }
  }
}
