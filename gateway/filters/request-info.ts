// Determines the tenant in the URL and the request's attributes: verb, group, version, resource, namespace, name.

import type { ServerResponse } from "node:http"
import { serverNameOf } from "../connections/client-connection.ts"
import { namedTenant } from "../request/named-tenant.ts"
import { parseQuery, requestInfo } from "../request/request-info.ts"
import type { Filter } from "./chain.ts"

/** Shared, because no code modifies a query. */
const noQuery = new URLSearchParams()

export function withRequestInfo(domain: string | undefined): Filter {
  return (request, response, next) => {
    const { state } = response.locals
    const target = request.url
    const mark = target.indexOf("?")
    const path = mark < 0 ? target : target.slice(0, mark)
    if (target === "*" && request.method === "OPTIONS") {
      response.writeHead(200, { "content-length": 0 }).end() // of the server, not of anything in it
      return
    }
    const fault = headFault(path, hostsIn(request.rawHeaders))
    if (fault !== undefined) {
      refuse(response, fault)
      return
    }
    state.named = namedTenant(path, request.headers.host, serverNameOf(request), domain)
    state.query = mark < 0 ? noQuery : parseQuery(target.slice(mark + 1))
    state.info = requestInfo(request.method, state.named.path, state.query)
    next()
  }
}

/** Characters that Go's server allows in a host. Source: golang.org/x/net/http/httpguts (ValidHostHeader). */
const hostPattern = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

/** What Go's server says of a request line and hosts that it does not pass on to kube-apiserver; "" is nothing in particular. */
function headFault(path: string, hosts: readonly string[]): string | undefined {
  if (!path.startsWith("/") && path !== "*") return ""
  // It may name the tenant: of two, a proxy before us may have read the other one.
  if (hosts.length > 1) return ""
  return hosts.every((host) => hostPattern.test(host)) ? undefined : ": malformed Host header"
}

/** In HTTP/2 the host is not in a header. */
function hostsIn(rawHeaders: readonly string[]): string[] {
  const hosts: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts.push(rawHeaders[index + 1] ?? "")
  }
  return hosts
}

/** In plain text, and the connection is closed. */
function refuse(response: ServerResponse, fault: string): void {
  const text = `400 Bad Request${fault}`
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, connection: "close" }
  response.writeHead(400, headers).end(text)
}
