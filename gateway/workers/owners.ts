// Assigns tenants to processes by rendezvous hashing: each tenant ranks the processes in its own order and belongs to the first
// live one. When a process ends, only its tenants move, distributed over all the others.

import { createHash } from "node:crypto"

/** Returns one of `places`; undefined if there are none. */
export function homeOf(uid: string, places: Iterable<number>): number | undefined {
  let best: { place: number; weight: bigint } | undefined
  for (const place of places) {
    const weight = createHash("sha256").update(`${uid} ${place}`).digest().readBigUInt64BE()
    if (best === undefined || weight > best.weight) best = { place, weight }
  }
  return best?.place
}
