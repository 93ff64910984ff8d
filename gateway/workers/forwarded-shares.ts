// What the forwarded requests for one tenant take in the process that has accepted their connections. The owner limits what it serves, but
// anybody's request waits here until the owner has begun to answer, with a socket of its own in both processes; and what a client does
// not take of a stream waits in both.

import type { Readable, Writable } from "node:stream"
import { tooManyAtOnce } from "../../apimachinery/text-errors.ts"
import type { HoldUnsent } from "../../client/http/unsent.ts"
import type { GatewayLimits } from "../options.ts"
import { UnreadBytes } from "../request/unread-bytes.ts"

const retryAfterSeconds = 1

/**
 * Charged for a stream that its owner has finished, which therefore no longer counts among the tenant's long-running requests, until its
 * client has taken the end: about what it costs without the bytes that wait.
 */
const endedBytes = 32 * 1024

export type ForwardLimits = Pick<GatewayLimits, "maxInFlight" | "maxWaiting" | "maxLongRunning" | "maxUnsentBytes">

interface Share {
  unanswered: number
  unsent: UnreadBytes
}

export class ForwardedShares {
  /** As many as the owner would accept of the tenant: it refuses none that the owner would serve. */
  readonly #maxUnanswered: number
  readonly #maxUnsentBytes: number
  /** By tenant, those that take something; "" for requests of no tenant. */
  readonly #shares = new Map<string, Share>()

  constructor({ maxInFlight, maxWaiting, maxLongRunning, maxUnsentBytes }: ForwardLimits) {
    this.#maxUnanswered = maxInFlight + maxWaiting + maxLongRunning
    this.#maxUnsentBytes = maxUnsentBytes
  }

  /** Throws 429. Returns a function to call once the owner has answered, or the request has ended. */
  begin(tenant: string): () => void {
    const share = this.#of(tenant)
    if (share.unanswered >= this.#maxUnanswered) throw tooManyAtOnce(retryAfterSeconds)
    share.unanswered++
    let hasEnded = false
    return () => {
      if (hasEnded) return
      hasEnded = true
      share.unanswered--
      this.#forgetIdle(tenant, share)
    }
  }

  holdFor(tenant: string): HoldUnsent {
    return (bytes, cut) => {
      const share = this.#of(tenant)
      const release = share.unsent.add(bytes, cut)
      return () => {
        release()
        this.#forgetIdle(tenant, share)
      }
    }
  }

  #of(tenant: string): Share {
    let share = this.#shares.get(tenant)
    if (share === undefined) {
      share = { unanswered: 0, unsent: new UnreadBytes(this.#maxUnsentBytes) }
      this.#shares.set(tenant, share)
    }
    return share
  }

  #forgetIdle(tenant: string, share: Share): void {
    if (share.unanswered > 0 || !share.unsent.isEmpty) return
    // It may have been forgotten already: streams that were cut end later.
    if (this.#shares.get(tenant) === share) this.#shares.delete(tenant)
  }
}

/** Besides what countUnsent counts: an end waits for its client even if it has no bytes. */
export function countEnded(from: Readable, to: Writable, hold: HoldUnsent | undefined): void {
  if (hold === undefined) return
  from.once("close", () => {
    if (to.destroyed) return
    const release = hold(endedBytes, () => void to.destroy())
    if (release !== undefined) to.once("close", release)
  })
}
