// Extracts the caller's credentials from the connection and the headers, once per request.

import { isUtf8 } from "node:buffer"
import type { X509Certificate } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { remember } from "../../apimachinery/remember.ts"
import { unauthorized } from "../../apimachinery/status.ts"
import { forwardedConnection } from "../connections/client-connection.ts"
import { isWebSocket } from "../request/web-socket.ts"
import { rememberParsed } from "./peer-certificate.ts"
import type { Credentials } from "./types.ts"

/** Longer certificate chains are a mistake or an attack; the remaining certificates are ignored. */
const maxChain = 5

/** A connection's certificates never change: TLS is not renegotiated. */
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

interface ConnectionCertificates {
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
  return remember(shared, bytes, shared.get(bytes) ?? certificates, maxShared)
}

/** Throws Unauthorized if a WebSocket client sends its token in a wrong way. */
export function credentialsOf(request: IncomingMessage): Credentials {
  const { chain: certificates } = connectionCertificates(request)
  const { token, warning } = bearerToken(request.headers.authorization)
  const found = token ?? (isWebSocketHandshake(request) ? protocolToken(request) : undefined)
  return { certificates, bearerToken: found, ...(warning === undefined ? {} : { warning }) }
}

/** Source: k8s.io/apiserver/pkg/authentication/request/bearertoken. */
const spacedTokenWarning =
  "the provided Authorization header contains extra space before the bearer token, and is ignored"

/**
 * As upstream: case-insensitive scheme, one space, and an empty token counts as none. Source:
 * k8s.io/apiserver/pkg/authentication/request/bearertoken.
 */
export function bearerToken(header = ""): { token?: string; warning?: string } {
  const [scheme = "", token, ...more] = header.trim().split(" ", 3)
  if (scheme.toLowerCase() !== "bearer" || token === undefined) return {}
  if (token !== "") return { token }
  return more.length > 0 ? { warning: spacedTokenWarning } : {}
}

const protocolPrefix = "base64url.bearer.authorization.k8s.io."
const unpadded = /^[\w-]*$/

function isWebSocketHandshake(request: IncomingMessage): boolean {
  return isWebSocket(request) && /upgrade/i.test(request.headers.connection ?? "")
}

/** Browsers cannot set headers on WebSockets. Source: k8s.io/apiserver/pkg/authentication/request/websocket. */
function protocolToken(request: IncomingMessage): string | undefined {
  const header = request.headers["sec-websocket-protocol"]
  if (header === undefined) return undefined
  const protocols = header.split(",").map((protocol) => protocol.trim())
  const carriers = protocols.filter((protocol) => protocol.startsWith(protocolPrefix))
  const [carrier] = carriers
  if (carrier === undefined) return undefined
  if (carriers.length > 1) throw unauthorized()
  const encoded = carrier.slice(protocolPrefix.length)
  const bytes = Buffer.from(encoded, "base64url")
  if (!unpadded.test(encoded) || encoded.length % 4 === 1 || !isUtf8(bytes)) throw unauthorized()
  if (bytes.length === 0) return undefined
  // Without another protocol to negotiate, the server would have to echo the token.
  if (protocols.length < 2) throw unauthorized()
  request.headers["sec-websocket-protocol"] = protocols.filter((protocol) => protocol !== carrier).join(", ")
  return bytes.toString()
}
