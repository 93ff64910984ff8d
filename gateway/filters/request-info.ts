// Determines the tenant in the URL and the request's attributes: verb, group, version, resource, namespace, name.

import type { ServerResponse } from "node:http"
import { pageNotFound } from "../../apimachinery/text-errors.ts"
import { serverNameOf } from "../connections/client-connection.ts"
import { isFraming } from "../proxy/trailers.ts"
import { namedTenant } from "../request/named-tenant.ts"
import { firstLine } from "../request/first-line.ts"
import { parseQuery } from "../request/query.ts"
import { hasMalformedEscape, requestInfo } from "../request/request-info.ts"
import type { Filter, GatewayRequest } from "./chain.ts"

/** Shared, because no code modifies a query. */
const noQuery = new URLSearchParams()

export function withRequestInfo(domain: string | undefined): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    if (request.url === "*" && request.method === "OPTIONS") {
      response.writeHead(200, { "content-length": 0 }).end() // of the server, not of anything in it
      return
    }
    const coding = request.headers["transfer-encoding"]
    if (coding !== undefined && coding.toLowerCase() !== "chunked") {
      refuse(response, 501, "Unsupported transfer encoding")
      return
    }
    if (!request.url.startsWith("/")) takeOrigin(request)
    const target = request.url
    const mark = target.indexOf("?")
    const path = mark < 0 ? target : target.slice(0, mark)
    const fault = headFault(request, path)
    if (fault !== undefined) {
      refuse(response, 400, `400 Bad Request${fault}`)
      return
    }
    state.named = namedTenant(path, request.headers.host, serverNameOf(request), domain)
    state.query = mark < 0 ? noQuery : parseQuery(target.slice(mark + 1))
    state.info = requestInfo(request.method, state.named.path, state.query, mark < 0 ? "" : target.slice(mark))
    if (state.info.subresource !== "proxy") takeFirstLines(request)
    next()
  }
}

/** The form that clients of proxies use; Go's server takes it, too. The authority replaces the Host header, if there is one. */
const absoluteForm = /^[a-z][\w+.-]*:\/\/(?:[^/?#@]*@)?(\[[\da-f:.]*\](?::\d*)?|[^/?#@%[\]]*)([/?].*)?$/i

function takeOrigin(request: GatewayRequest): void {
  const parts = absoluteForm.exec(request.url)
  if (parts === null) return
  const [, host = "", origin = ""] = parts
  if (!origin.startsWith("/")) throw pageNotFound()
  request.url = origin
  if (host === "") return
  request.headers.host = host
  const { rawHeaders } = request
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) rawHeaders[at + 1] = host
}

/** Characters that Go's server allows in a host. Source: golang.org/x/net/http/httpguts (ValidHostHeader). */
const hostPattern = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

/** What Go's server says of a request line and hosts that it does not pass on to kube-apiserver; "" is nothing in particular. */
function headFault({ httpVersion, headers, rawHeaders }: GatewayRequest, path: string): string | undefined {
  if (!path.startsWith("/") && path !== "*") return ""
  if (headers["transfer-encoding"] !== undefined && headers.trailer?.split(",").some(isFraming) === true) return ""
  // Node takes a line without a version for one of HTTP/0.9.
  if (hasMalformedEscape(path) || httpVersion === "0.9") return ""
  const hosts = hostsIn(rawHeaders)
  if (hosts.length === 0 && httpVersion === "1.1") return ": missing required Host header"
  // It may name the tenant: of two, a proxy before us may have read the other one.
  if (hosts.length > 1) return ""
  return hosts.every((host) => hostPattern.test(host)) ? undefined : ": malformed Host header"
}

/** Headers that upstream reads the first line of. Node joins several lines, as those of one list. */
const firstCounts = ["accept", "accept-encoding", "if-match", "if-none-match", "if-range", "range"] as const

function takeFirstLines(request: GatewayRequest): void {
  for (const name of firstCounts) {
    const first = firstLine(request, name)
    if (first !== undefined) request.headers[name] = first
  }
}

const isHost = (name: string | undefined): boolean => name?.length === 4 && name.toLowerCase() === "host"

/** In HTTP/2 the host is not in a header. */
function hostsIn(rawHeaders: readonly string[]): string[] {
  const hosts: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (isHost(rawHeaders[index])) hosts.push(rawHeaders[index + 1] ?? "")
  }
  return hosts
}

/** In plain text, and the connection is closed. */
function refuse(response: ServerResponse, code: number, text: string): void {
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, connection: "close" }
  response.writeHead(code, headers).end(text)
}
