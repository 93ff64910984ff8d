// Which process has which tenant, decided by rendezvous hashing: each tenant ranks the processes in an order of its own and
// belongs to the first that lives. When one goes only its tenants move, and they spread over all that are left.

import { createHash } from "node:crypto"

/** Answers one of `places`; undefined when there are none. */
export function homeOf(uid: string, places: Iterable<number>): number | undefined {
  let best: { place: number; weight: bigint } | undefined
  for (const place of places) {
    const weight = createHash("sha256").update(`${uid} ${place}`).digest().readBigUInt64BE()
    if (best === undefined || weight > best.weight) best = { place, weight }
  }
  return best?.place
}
