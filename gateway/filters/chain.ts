// Runs the filters in order. A filter answers by itself, or calls next(); what it throws, at once or later, is answered by
// `fail`. It is express's contract without express, which costs more than all filters together (decision 0011).

import { type IncomingMessage, ServerResponse } from "node:http"
import { pageNotFound } from "../../apimachinery/status.ts"
import type { RequestState } from "./state.ts"

export type GatewayRequest = IncomingMessage & { method: string; url: string }

/** Node's own, with the place for our state. */
export class GatewayResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  readonly locals = {} as { state: RequestState }
}

export type Filter = (request: GatewayRequest, response: GatewayResponse, next: () => void) => void | Promise<void>

export type Fail = (error: unknown, request: GatewayRequest, response: GatewayResponse) => void

export type Chain = (request: IncomingMessage, response: ServerResponse) => void

/** `response` has to be a GatewayResponse: servers are made with it. */
export function chainOf(filters: readonly Filter[], fail: Fail): Chain {
  const run = (at: number, request: GatewayRequest, response: GatewayResponse): void => {
    try {
      const filter = filters[at]
      if (filter === undefined) throw pageNotFound()
      const done = filter(request, response, () => run(at + 1, request, response))
      if (done !== undefined) done.catch((error: unknown) => fail(error, request, response))
    } catch (error) {
      fail(error, request, response)
    }
  }
  return (request, response) => run(0, request as GatewayRequest, response as GatewayResponse)
}
