// First in the chain: assigns an id and the state that the other filters fill in, and returns the id in the response.

import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Arrivals } from "../request/arrivals.ts"
import type { Filter } from "./chain.ts"
import { RequestState, type Upgrade } from "./state.ts"

export function withRequestState(upgrades: WeakMap<IncomingMessage, Upgrade>, active: Arrivals<RequestState>): Filter {
  return (request, response, next) => {
    const id = clientId(request.headers["audit-id"]) ?? randomUUID()
    const state = new RequestState(id, request, response, upgrades.get(request))
    response.locals.state = state
    state.whenDone(active.add(state))
    response.stand({ "audit-id": id, "cache-control": "no-cache, private" })
    next()
  }
}

/** As in kube-apiserver, a client may set the id of its request, to correlate the logs of both sides: any text that a header may have. */
function clientId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && header !== "" ? header : undefined
}
