// Determines the tenant in the URL and the request's attributes: verb, group, version, resource, namespace, name.

import { badRequest } from "../../apimachinery/status.ts"
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
    if (!path.startsWith("/")) throw badRequest("the request target must be a path")
    confirmOneHost(request.rawHeaders)
    state.named = namedTenant(path, request.headers.host, serverNameOf(request), domain)
    state.query = mark < 0 ? noQuery : parseQuery(target.slice(mark + 1))
    state.info = requestInfo(request.method, state.named.path, state.query)
    next()
  }
}

/** It may name the tenant: of two, a proxy before us may have read the other one. */
function confirmOneHost(rawHeaders: readonly string[]): void {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  if (hosts > 1) throw badRequest("too many Host headers")
}
