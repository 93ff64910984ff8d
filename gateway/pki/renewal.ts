// Renews the gateway's certificates while it runs: each is replaced before it expires, or when another process has replaced it. New
// connections use the new one. gateway-keys.ts determines which process replaces them.

import { constants } from "node:crypto"
import type { Server } from "node:https"
import type { SecureContextOptions } from "node:tls"
import { runUntilDisposed } from "../../client/background.ts"
import { follow, type Following } from "../../client/credentials/follow.ts"
import type { Certificates, GatewayKeys } from "./gateway-keys.ts"
import type { IssuedCertificate } from "./pki.ts"

/**
 * The TLS settings for a serving certificate. As in Go, TLS 1.2 is not renegotiated: a client's certificates are those of its first
 * handshake, and connections/handshakes.ts limits the handshakes that there are.
 */
export function secureContextOf({ certificate, key }: IssuedCertificate): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_RENEGOTIATION }
}

/** Keeps `keys` and the server up to date with the result of `load` until the stack is disposed. */
export function keepCertificates(
  keys: GatewayKeys,
  load: () => Promise<Certificates>,
  server: Pick<Server, "setSecureContext"> | undefined,
  stack: AsyncDisposableStack,
  context: Omit<Following, "signal">,
): void {
  const { serving, administrator } = keys
  const renew = (now: Certificates): void => {
    // The server first: if it refuses a pair, the pair is loaded again.
    if (now.serving.certificate !== keys.serving.certificate) server?.setSecureContext(secureContextOf(now.serving))
    Object.assign(keys, now)
  }
  const followed = {
    what: "certificate of the gateway",
    read: load,
    current: { serving, administrator },
    isSame,
    renew,
  }
  runUntilDisposed(stack, (signal) => follow(followed, { ...context, signal }))
}

const isSame = (a: Certificates, b: Certificates): boolean =>
  a.serving.certificate === b.serving.certificate && a.administrator.certificate === b.administrator.certificate
