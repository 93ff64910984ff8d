// Limits jobs outside the JavaScript thread (compression). They take threads of libuv's pool, which disk operations also need, and
// processors, which the JavaScript thread also needs. Only a few run at the same time in total; queued jobs run round robin over
// control planes, one job each.

import { availableParallelism } from "node:os"
import type { Presence } from "../tenancy/presence.ts"

/** One processor is left to the JavaScript thread, and most of the pool (cli/runtime/thread-pool.mjs) to disk operations. */
const defaultPlaces = Math.min(4, Math.max(1, availableParallelism() - 1))

export class ThreadPlaces {
  readonly #places: number
  /** Queued jobs of each control plane in order of arrival; no list is empty. */
  readonly #line = new Map<Presence, (() => void)[]>()
  #active = 0

  constructor(places = defaultPlaces) {
    this.#places = places
  }

  /** The number of queued jobs is limited by the requests in flight: each waits for one job at a time. */
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

  /** Passes the place on to the next job. */
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
