// Limits jobs outside the JavaScript thread (compression; verifying with keys of tenants' issuers that take long). They take threads of
// libuv's pool, which disk operations also need, and processors, which the JavaScript thread also needs. Only a few run at the same time in
// total; queued jobs run round robin over control planes, one job each.

import { availableParallelism } from "node:os"
import { FairPlaces } from "../../apimachinery/fair-places.ts"
import type { Presence } from "../tenancy/presence.ts"

/** One processor is left to the JavaScript thread, and most of the pool (cli/runtime/thread-pool.mjs) to disk operations. */
const defaultPlaces = Math.min(4, Math.max(1, availableParallelism() - 1))

/**
 * The number of queued jobs is limited by the requests in flight and the tokens that are examined at once: each waits for one job at a time.
 * A place is free again only when the event loop has delivered the result: this is not for jobs that are much shorter than its turns.
 */
export class ThreadPlaces extends FairPlaces<Presence> {
  constructor(places = defaultPlaces) {
    super({ all: places })
  }
}
