// Work that leaves the thread of JavaScript (compressing) takes threads of libuv's pool, which the disk's work needs too, and
// processors, which the thread of JavaScript itself needs. Few of such jobs are under way at the same time, whoever they are
// for; what waits goes on in turn over control planes, each with one job.

import { availableParallelism } from "node:os"
import type { Presence } from "../tenancy/presence.ts"

/** The thread of JavaScript keeps a processor to itself, and most of the pool (cli/thread-pool.mjs) is the disk's. */
const defaultPlaces = Math.min(4, Math.max(1, availableParallelism() - 1))

export class ThreadPlaces {
  readonly #places: number
  /** Each control plane's in the order in which they came; none of the lists is empty. */
  readonly #line = new Map<Presence, (() => void)[]>()
  #active = 0

  constructor(places = defaultPlaces) {
    this.#places = places
  }

  /** Jobs that are waited for are bounded by the requests in flight: each waits for one at a time. */
  async run<T>(who: Presence, job: () => Promise<T>): Promise<T> {
    if (this.#active < this.#places) this.#active++
    else await this.#place(who)
    try {
      return await job()
    } finally {
      this.#next()
    }
  }

  #place(who: Presence): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#line.get(who)
      if (waiting === undefined) this.#line.set(who, [resolve])
      else waiting.push(resolve)
    })
  }

  /** A place goes straight to the next one. */
  #next(): void {
    const [first] = this.#line
    if (first === undefined) {
      this.#active--
      return
    }
    const [who, waiting] = first
    this.#line.delete(who)
    const call = waiting.shift()
    if (waiting.length > 0) this.#line.set(who, waiting)
    call?.()
  }
}
