import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { expect, test } from "vitest"
import { connectionCertificates } from "./credentials.ts"

/** On a connection of its own with that client certificate. */
const requestWith = (raw: Buffer): IncomingMessage =>
  ({
    socket: Object.create(TLSSocket.prototype, { getPeerX509Certificate: { value: () => ({ raw }) } }) as TLSSocket,
  }) as Partial<IncomingMessage> as IncomingMessage

test("the parsed form of a certificate is shared by connections unless it is large", () => {
  for (const [bytes, isShared] of [
    [1024, true],
    [100_000, false],
  ] as const) {
    const [one, other] = [Buffer.alloc(bytes), Buffer.alloc(bytes)].map((raw) =>
      connectionCertificates(requestWith(raw)),
    )
    expect(other?.chain).toEqual(one?.chain)
    expect(other === one).toBe(isShared)
  }
})
