// One thread serves all control planes: who has much to do must not do all of it before another's little. Work asks for a turn
// before each stretch of it (a request's beginning, its answer, a piece of a list, an event for one watch), goes on at once
// while the present turn of the event loop is young, and otherwise waits. Those that wait go on in turn over control planes,
// each with the same time; who has just come goes first, and a few of those need not even wait for the loop to turn: whoever
// asks little is held up by the work under way alone, and not by what waits.
//
// Who is in the middle of work that may be long asks whether to pause, which waits only when the turn has lasted its time.
//
//   fresh: came since the line was last theirs ──their time is used──▶ line: one after the other, each for `quantumMs`
//
// After "FlowQueue-CoDel" (RFC 8290), with milliseconds of the thread for bytes.

import type { Presence } from "../tenancy/presence.ts"

/** Work begins in one turn of the event loop until it has lasted so long: then sockets and timers are looked at. */
const turnMs = 1

/** A control plane's time before the next one's. */
const quantumMs = 0.5

/** Control planes without a place in the line that go on at once in one turn of the event loop, whatever waits. */
const passesPerTurn = 4

/** Begun before it is looked whether the turn is over: each in a callback of its own, so that its time can be told. */
const grantsAtOnce = 32

interface Waiting {
  readonly calls: (() => void)[]
  /** Milliseconds it may still take before it goes to the end of the line; below 0 when it took more. */
  left: number
}

export class Turns {
  readonly #fresh = new Map<Presence, Waiting>()
  readonly #line = new Map<Presence, Waiting>()
  #count = 0
  /** When the present turn began; undefined: nothing has been done in it. */
  #began: number | undefined
  /** Whose work has been let go on, and when: what follows until the next callback is its time. */
  #working: { waiting: Waiting; since: number } | undefined
  #scheduled = false
  #passes = passesPerTurn
  /** Who has gone on without waiting in the present turn. */
  readonly #served: Presence[] = []
  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Undefined: go on at once, without waiting. */
  take(who: Presence): Promise<void> | undefined {
    const now = this.#now()
    const began = this.#begin(now)
    if (this.#count === 0 && now - began < turnMs) {
      if (!this.#served.includes(who)) this.#served.push(who)
      return undefined
    }
    if (this.#passes > 0 && !this.#served.includes(who) && !this.#fresh.has(who) && !this.#line.has(who)) {
      this.#passes--
      // It has had what it came for: for a round, what it does next waits as others' work does.
      this.#line.set(who, { calls: [], left: quantumMs })
      return undefined
    }
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /** Undefined: go on, the present turn is young, whoever waits. */
  pause(who: Presence): Promise<void> | undefined {
    const now = this.#now()
    if (now - this.#begin(now) < turnMs) return undefined
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /** How much waits. */
  get waiting(): number {
    return this.#count
  }

  #wait(who: Presence, call: () => void): void {
    let waiting = this.#fresh.get(who) ?? this.#line.get(who)
    if (waiting === undefined) this.#fresh.set(who, (waiting = { calls: [], left: quantumMs }))
    waiting.calls.push(call)
    this.#count++
  }

  /** When the present turn began: now, when nothing has been done in it. */
  #begin(now: number): number {
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.#turn())
    }
    return (this.#began ??= now)
  }

  #turn(): void {
    this.#began = undefined
    this.#passes = passesPerTurn
    this.#served.length = 0
    if (this.#count === 0) {
      // Who has nothing to do when its turn comes leaves the line: it is fresh when it comes back.
      if (this.#line.size > 0) this.#line.clear()
      if (this.#fresh.size > 0) this.#fresh.clear()
      this.#scheduled = false
      return
    }
    // Each runs in the next turn of the loop, followed by what it causes (promises), before the next one; the last one closes
    // the turn.
    setImmediate(() => {
      this.#began = this.#now()
    })
    for (let index = Math.min(this.#count, grantsAtOnce); index > 0; index--) setImmediate(() => this.#grant())
    setImmediate(() => {
      this.#account(this.#now())
      this.#turn()
    })
  }

  #grant(): void {
    const now = this.#now()
    this.#account(now)
    if (this.#began === undefined || now - this.#began >= turnMs) return
    const waiting = this.#next()
    if (waiting === undefined) return
    this.#count--
    this.#working = { waiting, since: now }
    waiting.calls.shift()?.()
  }

  #account(now: number): void {
    if (this.#working === undefined) return
    this.#working.waiting.left -= now - this.#working.since
    this.#working = undefined
  }

  #next(): Waiting | undefined {
    for (;;) {
      const from = this.#fresh.size > 0 ? this.#fresh : this.#line
      const [first] = from
      if (first === undefined) return undefined
      const [who, waiting] = first
      if (waiting.left > 0 && waiting.calls.length > 0) return waiting
      from.delete(who)
      if (waiting.left <= 0) waiting.left += quantumMs
      // Who was fresh and has nothing more stays in the line for a round: coming again at once, it is not fresh.
      if (waiting.calls.length > 0 || from === this.#fresh) this.#line.set(who, waiting)
    }
  }
}
