// The identity of a client, sent from the process that accepted its connection to the one that owns its tenant: in one header,
// protected by a secret that is generated at every start and known only to these processes. The header goes no further: it is
// removed before anything else sees the request, and a client's header of that name is not forwarded.
//
//   x-polyplane-forwarded: <secret> <hops> <base64url of JSON {certificates, serverName, remoteAddress}>

import { randomBytes, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { remember } from "../../apimachinery/remember.ts"
import { connectionCertificates } from "../authentication/credentials.ts"
import {
  clientAddress,
  forwardedConnection,
  serverNameOf,
  setForwardedConnection,
  type ForwardedConnection,
} from "../connections/client-connection.ts"

export const forwardedHeader = "x-polyplane-forwarded"

/** Cached connections with decoded certificates, so that per-certificate data is found again at the next request. */
const maxKnown = 1024
/** Maximum length in characters of a cached header; longer ones are decoded each time. Anyone can send 100 kB in a handshake. */
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
  /** By header text, oldest first. */
  readonly #known = new Map<string, ForwardedConnection>()
  readonly #hops = new WeakMap<IncomingMessage, number>()
  readonly #printed = new WeakMap<object, string>()

  constructor(secret: string) {
    this.#secret = Buffer.from(secret)
  }

  /** The header value for a forwarded request. */
  headerOf(request: IncomingMessage): string {
    return this.#header(this.hops(request) + 1, this.#wireOf(request))
  }

  /** The header value for a request of this process itself, with that certificate (PEM). */
  headerFor(certificate: string): string {
    const der = certificate.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, "")
    return this.#header(1, print({ certificates: [der] }))
  }

  /** The headers of requests of this process itself, with that certificate (PEM). */
  ownHeaders(certificate: string): Record<string, string> {
    return { [forwardedHeader]: this.headerFor(certificate) }
  }

  /** How many processes have forwarded the request. */
  hops(request: IncomingMessage): number {
    return this.#hops.get(request) ?? 0
  }

  /** Removes the header from a request on the private socket. Returns false if it is not from a process of this gateway. */
  accept(request: IncomingMessage): boolean {
    const header = removeHeader(request)
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
    return text.length > maxKnownLength ? known : remember(this.#known, text, known, maxKnown)
  }
}

function wireOfSocket(request: IncomingMessage): Wire {
  return wire({
    certificates: connectionCertificates(request).chain,
    serverName: serverNameOf(request),
    remoteAddress: clientAddress(request),
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

/**
 * Removes it from all of Node's header forms; the parsed forms are created first, because Node builds them by index. Repeated
 * headers are rejected.
 */
function removeHeader(request: IncomingMessage): string | undefined {
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
