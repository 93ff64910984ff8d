// The gateway's certificates while it runs: each is replaced before its end, or when another process of ours has replaced it, and
// connections from then on get the new one. Whose job the replacing is, pki/gateway-keys.ts says.

import type { Server } from "node:https"
import type { SecureContextOptions } from "node:tls"
import { follow, type Following } from "../client/follow.ts"
import type { Certificates, GatewayKeys } from "./pki/gateway-keys.ts"
import type { IssuedCertificate } from "./pki/pki.ts"

/** What the gateway serves with. */
export function secureContextOf({ certificate, key }: IssuedCertificate): SecureContextOptions {
  return { cert: certificate, key, minVersion: "TLSv1.2" }
}

/** Keeps `keys` up to date with what `load` answers, and the server too, until the stack ends. */
export function keepCertificates(
  keys: GatewayKeys,
  load: () => Promise<Certificates>,
  server: Pick<Server, "setSecureContext"> | undefined,
  stack: AsyncDisposableStack,
  context: Omit<Following, "signal">,
): void {
  const ending = new AbortController()
  const { serving, administrator } = keys
  const renew = (now: Certificates): void => {
    // The server first: a pair it refuses is asked for again.
    if (now.serving.certificate !== keys.serving.certificate) server?.setSecureContext(secureContextOf(now.serving))
    Object.assign(keys, now)
  }
  const following = follow(
    { what: "certificate of the gateway", read: load, current: { serving, administrator }, isSame, renew },
    { ...context, signal: ending.signal },
  )
  stack.defer(() => {
    ending.abort()
    return following
  })
}

const isSame = (a: Certificates, b: Certificates): boolean =>
  a.serving.certificate === b.serving.certificate && a.administrator.certificate === b.administrator.certificate
