// Connection errors with the messages of Go's net and tls packages, which kube-apiserver's responses contain and people search for.

import { isIP } from "node:net"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { StatusError } from "../../apimachinery/status.ts"

const untrusted = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_UNTRUSTED",
])

interface NodeError extends Error {
  code?: string
  /** What could not be parsed. */
  rawPacket?: Buffer
  address?: string
  port?: number
  host?: string
}

export function goError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = "", address, port, message } = error as NodeError
  const at = address === undefined ? "dial tcp" : `dial tcp ${address.includes(":") ? `[${address}]` : address}:${port}`
  if (error instanceof StatusError) return message
  if (error.name === "AbortError" && (error.cause as Error | undefined)?.name === "TimeoutError")
    return "context deadline exceeded"
  if (code === "ECONNREFUSED") return `${at}: connect: connection refused`
  if (code === "EHOSTUNREACH") return `${at}: connect: no route to host`
  if (code === "ENETUNREACH") return `${at}: connect: network is unreachable`
  if (code === "ETIMEDOUT") return `${at}: i/o timeout`
  if (code === "ECONNRESET" || code === "EPIPE")
    return /socket hang up|before secure TLS connection/.test(message) ? "EOF" : "connection reset by peer"
  if (untrusted.has(code)) return certificate("x509: certificate signed by unknown authority")
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return certificate("x509: certificate has expired or is not yet valid")
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return certificate(wrongName(error))
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    return /wrong version number|packet length too long|http request/i.test(message)
      ? "http: server gave HTTP response to HTTPS client"
      : `remote error: tls: ${message.split(":").at(-1)?.trim() ?? message}`
  }
  const fault = malformedResponse(error)
  return fault === undefined ? message : `net/http: HTTP/1.x transport connection broken: ${fault}`
}

/** If the error is about the head of a response. */
export function malformedResponse(error: unknown): string | undefined {
  const { code = "", rawPacket } = (error instanceof Error ? error : {}) as Partial<NodeError>
  return code.startsWith("HPE_") && rawPacket !== undefined ? malformed(rawPacket) : undefined
}

/** Source: ReadResponse in net/http, ReadMIMEHeader in net/textproto. */
function malformed(response: Buffer): string | undefined {
  const [line = "", ...headers] = response.toString().split(/\r?\n/)
  const space = line.indexOf(" ")
  if (space < 0) return `malformed HTTP response ${goQuote(line)}`
  const [code = ""] = line.slice(space).trimStart().split(" ", 1)
  if (!/^\d{3}$/.test(code)) return `malformed HTTP status code ${goQuote(code)}`
  const protocol = line.slice(0, space)
  if (!/^HTTP\/\d\.\d$/.test(protocol)) return `malformed HTTP version ${goQuote(protocol)}`
  const end = headers.indexOf("")
  const header = headers.slice(0, end < 0 ? undefined : end).find((one) => !one.includes(":"))
  return header === undefined ? undefined : `malformed MIME header: missing colon: ${goQuote(header)}`
}

const certificate = (text: string): string => `tls: failed to verify certificate: ${text}`

function wrongName(error: NodeError & { cert?: { subjectaltname?: string } }): string {
  const { host = "", cert } = error
  const kind = isIP(host) === 0 ? "DNS:" : "IP Address:"
  const names = (cert?.subjectaltname ?? "")
    .split(", ")
    .flatMap((name) => (name.startsWith(kind) ? [name.slice(kind.length)] : []))
  if (names.length > 0) return `x509: certificate is valid for ${names.join(", ")}, not ${host}`
  return isIP(host) === 0
    ? `x509: certificate is not valid for any names, but wanted to match ${host}`
    : `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
}
