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
// Modelled on "FlowQueue-CoDel" (RFC 8290), with milliseconds of the thread instead of bytes.

/** Work continues in one turn of the event loop until this time has passed; then sockets and timers are served. */
const turnMs = 1

/** The time of a control plane before the next one's turn. */
const quantumMs = 0.5

/** Control planes outside the line that may continue at once per turn of the event loop, regardless of queued work. */
const passesPerTurn = 4

/** Grants scheduled together. Each runs in its own callback, so that its time can be measured. */
const grantsAtOnce = 32

/** A control plane's clients together (its Presence), or its own parts together (the Caller of their client in process). */
export type Party = object

interface Waiting {
  readonly calls: (() => void)[]
  /** Remaining milliseconds before it moves to the end of the line; negative if it took more. */
  left: number
}

export class Turns {
  readonly #fresh = new Map<Party, Waiting>()
  readonly #line = new Map<Party, Waiting>()
  #count = 0
  /** When the current turn began; undefined: nothing has run in it. */
  #began: number | undefined
  /** The control plane that was granted a turn, and when: the time until the next callback is charged to it. */
  #working: { waiting: Waiting; since: number } | undefined
  #scheduled = false
  #passes = passesPerTurn
  /** Control planes that have continued without waiting in the current turn. */
  readonly #served: Party[] = []
  readonly #now: () => number

  /** `now`: a clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns undefined if the caller may continue at once. */
  take(who: Party): Promise<void> | undefined {
    const now = this.#now()
    const began = this.#begin(now)
    if (this.#count === 0 && now - began < turnMs) {
      if (!this.#served.includes(who)) this.#served.push(who)
      return undefined
    }
    if (this.#passes > 0 && !this.#served.includes(who) && !this.#fresh.has(who) && !this.#line.has(who)) {
      this.#passes--
      // It has used its pass: for one round its further work is queued like others'.
      this.#line.set(who, { calls: [], left: quantumMs })
      return undefined
    }
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /**
   * Returns undefined if the caller may continue because the current turn has not lasted as long as this, regardless of queued work.
   */
  pause(who: Party, stretchMs = turnMs): Promise<void> | undefined {
    const now = this.#now()
    if (now - this.#begin(now) < stretchMs) return undefined
    return new Promise((resolve) => this.#wait(who, resolve))
  }

  /** The number of queued calls. */
  get waiting(): number {
    return this.#count
  }

  #wait(who: Party, call: () => void): void {
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
    this.#began = undefined
    this.#passes = passesPerTurn
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
      this.#grant(this.#began)
    })
    for (let index = Math.min(this.#count, grantsAtOnce); index > 1; index--) setImmediate(() => this.#grantInTime())
    setImmediate(() => {
      this.#account(this.#now())
      this.#turn()
    })
  }

  #grantInTime(): void {
    const now = this.#now()
    this.#account(now)
    if (this.#began === undefined || now - this.#began >= turnMs) return
    this.#grant(now)
  }

  #grant(now: number): void {
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
      // A fresh control plane without further work stays in the line for one round, so that it is not fresh if it returns at once.
      if (waiting.calls.length > 0 || from === this.#fresh) this.#line.set(who, waiting)
    }
  }
}
