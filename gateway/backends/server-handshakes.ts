// TLS handshakes with servers that tenants name. What such a server sends may hold the thread as what a client sends may
// (connections/slow-handshakes.ts). One for all control planes, so that one tenant's servers do not delay all others.

import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { HandshakeRests, type ReadHandshake } from "../connections/handshake-rests.ts"
import { SlowHandshakes } from "../connections/slow-handshakes.ts"

class Handshake implements ReadHandshake {
  readonly party: object
  readonly socket: Duplex
  workedBefore = 0
  bytesBefore = 0
  /** Of a stream that TLS reads in JavaScript. */
  #bytes = 0

  constructor(party: object, socket: Duplex) {
    this.party = party
    this.socket = socket
    if (!(socket instanceof Socket)) socket.on("data", this.#count)
  }

  get bytesRead(): number {
    return this.socket instanceof Socket ? this.socket.bytesRead : this.#bytes
  }

  end(): void {
    this.socket.off("data", this.#count)
  }

  readonly #count = (chunk: Buffer): void => void (this.#bytes += chunk.length)
}

export class ServerHandshakes {
  readonly #slow = new SlowHandshakes<Handshake>(new HandshakeRests())

  /** To be called when TLS has been started on `raw` for a tenant. Returns what to call when the handshake has ended. */
  begin(tenant: object, raw: Duplex): () => void {
    const handshake = new Handshake(tenant, raw)
    let hasEnded = false
    // By then TLS reads from it.
    process.nextTick(() => {
      if (!hasEnded) this.#slow.add(handshake)
    })
    return () => {
      hasEnded = true
      this.#slow.delete(handshake)
      handshake.end()
    }
  }
}
