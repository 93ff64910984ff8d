// Extracts the caller's credentials from the connection and the headers, once per request.

import type { X509Certificate } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { forwardedConnection } from "../connections/client-connection.ts"
import { rememberParsed } from "./peer-certificate.ts"
import type { Credentials } from "./types.ts"

/** Longer certificate chains are a mistake or an attack; the remaining certificates are ignored. */
const maxChain = 5

/** A connection's certificates never change: TLS 1.3 without renegotiation. */
const chains = new WeakMap<TLSSocket, ConnectionCertificates>()

/** Number of cached certificate chains; the least recently used are dropped. */
const maxShared = 1024
/**
 * Maximum size in bytes of a cached chain. Anyone can send 100 kB in a handshake, which only the connection itself may retain;
 * chains of clients have one or two.
 */
const maxSharedBytes = 8 * 1024

/**
 * A client opens many connections with one certificate. They share one value here, which is the key of cached results about it:
 * parsing and verifying cost more than the rest of a connection's first request.
 */
const shared = new Map<string, ConnectionCertificates>()

export interface ConnectionCertificates {
  readonly leaf: X509Certificate | undefined
  readonly chain: readonly Uint8Array[]
}

export function connectionCertificates(request: IncomingMessage): ConnectionCertificates {
  const { socket } = request
  if (!(socket instanceof TLSSocket))
    return { leaf: undefined, chain: forwardedConnection(request)?.certificates ?? [] }
  let known = chains.get(socket)
  if (known === undefined) {
    const leaf = socket.getPeerX509Certificate()
    const chain: Uint8Array[] = []
    for (let next = leaf; next !== undefined && chain.length < maxChain; next = next.issuerCertificate)
      chain.push(next.raw)
    known = share({ leaf, chain })
    const [first] = known.chain
    if (leaf !== undefined && first !== undefined) rememberParsed(first, leaf)
    chains.set(socket, known)
  }
  return known
}

function share(certificates: ConnectionCertificates): ConnectionCertificates {
  const { leaf, chain } = certificates
  const size = chain.reduce((sum, { length }) => sum + length, 0)
  if (leaf === undefined || size > maxSharedBytes) return certificates
  const bytes = Buffer.concat(chain).toString("latin1")
  const known = shared.get(bytes) ?? certificates
  shared.delete(bytes)
  shared.set(bytes, known)
  const [oldest] = shared.keys()
  if (shared.size > maxShared && oldest !== undefined) shared.delete(oldest)
  return known
}

export function credentialsOf(request: IncomingMessage): Credentials {
  const { chain: certificates } = connectionCertificates(request)
  const token = bearerToken(request)
  const isSpaced = token === undefined && spacedToken.test(request.headers.authorization ?? "")
  return { certificates, bearerToken: token, ...(isSpaced ? { warning: spacedTokenWarning } : {}) }
}

const spacedToken = /^\s*bearer {2}/i
/** Source: k8s.io/apiserver/pkg/authentication/request/bearertoken. */
const spacedTokenWarning =
  "the provided Authorization header contains extra space before the bearer token, and is ignored"

/**
 * As upstream: case-insensitive scheme, one space, and an empty token counts as none. WebSocket clients may send it as a protocol.
 */
function bearerToken(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization?.trim()
  if (header !== undefined) {
    const [scheme = "", token = ""] = header.split(" ", 2)
    return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined
  }
  return protocolToken(request)
}

const protocolPrefix = "base64url.bearer.authorization.k8s.io."

/** Browsers cannot set headers on WebSockets. Source: k8s.io/apiserver/pkg/authentication/request/websocket. */
function protocolToken(request: IncomingMessage): string | undefined {
  const header = request.headers["sec-websocket-protocol"]
  if (header === undefined) return undefined
  const protocols = header.split(",").map((protocol) => protocol.trim())
  const carrier = protocols.find((protocol) => protocol.startsWith(protocolPrefix))
  // Without another protocol to negotiate, the server would have to echo the token.
  if (carrier === undefined || protocols.length < 2) return undefined
  const token = Buffer.from(carrier.slice(protocolPrefix.length), "base64url").toString()
  request.headers["sec-websocket-protocol"] = protocols.filter((protocol) => protocol !== carrier).join(", ")
  return token === "" ? undefined : token
}
