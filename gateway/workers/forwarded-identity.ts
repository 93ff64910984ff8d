// Who a client is, carried from the process that accepted its connection to the one that has its tenant: in one header,
// behind a secret that is made anew at every start and known to these processes alone. The header never goes further: it is
// taken off before anything else sees the request, and what a client sends under its name is not passed on.
//
//   x-polyplane-forwarded: <secret> <hops> <base64url of JSON {certificates, serverName, remoteAddress}>

import { randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { connectionCertificates } from "../authentication/credentials.ts"
import { forwardedConnection, setForwardedConnection, type ForwardedConnection } from "../request/connection.ts"

export const forwardedHeader = "x-polyplane-forwarded"

/** Connections whose certificates are kept decoded, so that what is known of a certificate is known at its next request. */
const maxKnown = 1024
/** Characters of what is kept; who needs more is decoded anew each time. A handshake takes a hundred kilobytes from anybody. */
const maxKnownLength = 16 * 1024

interface Wire {
  certificates: string[]
  serverName?: string
  remoteAddress?: string
}

export function createSecret(): string {
  return randomBytes(32).toString("base64url")
}

export class ForwardedIdentity {
  readonly #secret: Buffer
  /** By what is on the wire, oldest first. */
  readonly #known = new Map<string, ForwardedConnection>()
  readonly #hops = new WeakMap<IncomingMessage, number>()
  readonly #printed = new WeakMap<object, string>()

  constructor(secret: string) {
    this.#secret = Buffer.from(secret)
  }

  /** The header's value of a request that is passed on. */
  headerOf(request: IncomingMessage): string {
    return this.#header(this.hops(request) + 1, this.#wireOf(request))
  }

  /** The header's value of a request that this process makes itself, with that certificate (PEM). */
  headerFor(certificate: string): string {
    const der = certificate.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, "")
    return this.#header(1, print({ certificates: [der] }))
  }

  /** How many processes of ours it has passed. */
  hops(request: IncomingMessage): number {
    return this.#hops.get(request) ?? 0
  }

  /** Takes the header off a request that came over the private socket. false: it is not one of ours. */
  accept(request: IncomingMessage): boolean {
    const header = takeOff(request)
    const [secret = "", hops = "", printed = ""] = header?.split(" ") ?? []
    const given = Buffer.from(secret)
    if (given.length !== this.#secret.length || !timingSafeEqual(given, this.#secret)) return false
    this.#hops.set(request, Number(hops))
    setForwardedConnection(request, this.#connection(printed))
    return true
  }

  #header(hops: number, printed: string): string {
    return `${this.#secret.toString()} ${hops} ${printed}`
  }

  #wireOf(request: IncomingMessage): string {
    const before = forwardedConnection(request)
    const of = before ?? request.socket
    let printed = this.#printed.get(of)
    if (printed === undefined) this.#printed.set(of, (printed = print(before ? wire(before) : wireOfSocket(request))))
    return printed
  }

  #connection(text: string): ForwardedConnection {
    let known = this.#known.get(text)
    if (known !== undefined) return known
    const { certificates, serverName, remoteAddress } = JSON.parse(Buffer.from(text, "base64url").toString()) as Wire
    known = { certificates: certificates.map((each) => Buffer.from(each, "base64")), serverName, remoteAddress }
    if (text.length > maxKnownLength) return known
    this.#known.set(text, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest)
    return known
  }
}

function wireOfSocket(request: IncomingMessage): Wire {
  const { socket } = request
  const serverName = socket instanceof TLSSocket ? socket.servername : undefined
  const { remoteAddress } = socket
  return wire({
    certificates: connectionCertificates(request).chain,
    serverName: serverName || undefined,
    remoteAddress,
  })
}

function wire({ certificates, serverName, remoteAddress }: ForwardedConnection): Wire {
  return {
    certificates: certificates.map((each) => Buffer.from(each).toString("base64")),
    ...(serverName === undefined ? {} : { serverName }),
    ...(remoteAddress === undefined ? {} : { remoteAddress }),
  }
}

function print(value: Wire): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url")
}

/** From all forms in which Node has headers: the parsed ones are made first, because it makes them by number. Several are none. */
function takeOff(request: IncomingMessage): string | undefined {
  const { rawHeaders, headers, headersDistinct } = request
  const found: string[] = []
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() !== forwardedHeader) continue
    found.push(rawHeaders[at + 1] ?? "")
    rawHeaders.splice(at, 2)
  }
  delete headers[forwardedHeader]
  delete headersDistinct[forwardedHeader]
  return found.length === 1 ? found[0] : undefined
}
