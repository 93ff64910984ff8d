// First in the chain: assigns an id and the state that the other filters fill in, and returns the id in the response.

import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Arrivals } from "../request/arrivals.ts"
import { firstLine } from "../request/first-line.ts"
import type { Filter } from "./chain.ts"
import { RequestState, type Upgrade } from "./state.ts"

export function withRequestState(upgrades: WeakMap<IncomingMessage, Upgrade>, active: Arrivals<RequestState>): Filter {
  return (request, response, next) => {
    const id = clientId(request) ?? randomUUID()
    const state = new RequestState(id, request, response, upgrades.get(request))
    response.locals.state = state
    state.whenDone(active.add(state))
    response.stand({ "audit-id": id, "cache-control": "no-cache, private" })
    next()
  }
}

/** As in kube-apiserver, a client may set the id of its request, to correlate the logs of both sides: any text that a header may have. */
function clientId(request: IncomingMessage): string | undefined {
  const id = firstLine(request, "audit-id")
  return id === "" ? undefined : id
}
