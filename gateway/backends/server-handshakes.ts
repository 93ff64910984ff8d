// TLS handshakes with servers that tenants name. What such a server sends may hold the thread as what a client sends may
// (connections/slow-handshakes.ts). One for all control planes, so that one tenant's servers do not delay all others.

import type { Duplex } from "node:stream"
import { HandshakeRests } from "../connections/handshake-rests.ts"
import { SlowHandshakes } from "../connections/slow-handshakes.ts"

export class ServerHandshakes {
  readonly #rests = new HandshakeRests()
  readonly #slow = new SlowHandshakes(this.#rests)

  /** To be called when TLS has been started on `raw` for a tenant. Returns what to call when the handshake has ended. */
  begin(tenant: object, raw: Duplex & { readonly bytesRead?: number }): () => void {
    const handshake = { party: tenant, socket: raw, workedBefore: 0, bytesBefore: 0 }
    let hasEnded = false
    // By then TLS reads from it.
    process.nextTick(() => {
      if (!hasEnded) this.#slow.add(handshake)
    })
    return () => {
      hasEnded = true
      this.#rests.charge(handshake)
      this.#slow.delete(handshake)
    }
  }
}
