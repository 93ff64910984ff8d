// First in the chain: gives the request an id and the state the other filters fill in, and makes the answer carry the id.

import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Comings } from "../request/comings.ts"
import { RequestState, type Filter, type Upgrade } from "./state.ts"

/** Longer ones of clients are not taken over. */
const maxClientIdLength = 64

export function withRequestState(upgrades: WeakMap<IncomingMessage, Upgrade>, active: Comings<RequestState>): Filter {
  return (request, response, next) => {
    const id = clientId(request.headers["audit-id"]) ?? randomUUID()
    const state = new RequestState(id, request, response, upgrades.get(request))
    response.locals.state = state
    state.whenDone(active.add(state))
    response.stand({ "audit-id": id, "cache-control": "no-cache, private" })
    next()
  }
}

/** A caller may name its request, as with kube-apiserver, so that logs of both can be put together. */
function clientId(header: string | string[] | undefined): string | undefined {
  const id = typeof header === "string" ? header : undefined
  return id !== undefined && id.length <= maxClientIdLength && /^[\w.-]+$/.test(id) ? id : undefined
}
