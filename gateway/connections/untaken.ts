// Clients that do not take the end of their answer. A request has a time limit from when its caller is known, and ends when its
// answer has been sent; an answer that ends before that, or comes from another process, would wait for its client without a limit,
// with its stream or connection.
//
// Clients of logs and proxies take their time, as a pager does, and upstream waits for them: what such an answer holds is counted
// (client/http/unsent.ts). Not when their tenant is gone: if it was another process's, this one notices here, also for the client of an exec
// that does not take its end. And a refusal is like any other answer: who asked may be unknown.

import type { ServerResponse } from "node:http"
import type { Server } from "node:https"
import type { RequestState } from "../filters/state.ts"
import type { Arrivals } from "../request/arrivals.ts"

type Answered = Pick<RequestState, "response" | "isLongRunning" | "isAborted" | "abort" | "tenantElsewhere" | "summary">

const gone = new Error("the tenant has been deleted")

/** Every `limitMs` the answers are destroyed that had ended the time before already. */
export function endUntaken(server: Pick<Server, "once">, active: Arrivals<RequestState>, limitMs: number): void {
  const sweeper = new Sweeper(active)
  const timer = setInterval(() => sweeper.sweep(), limitMs).unref()
  server.once("close", () => clearInterval(timer))
}

export class Sweeper {
  readonly #active: Pick<Arrivals<Answered>, "values">
  #ended = new Set<Answered>()

  constructor(active: Pick<Arrivals<Answered>, "values">) {
    this.#active = active
  }

  sweep(): void {
    for (const state of this.#active.values)
      if (state.tenantElsewhere?.exists === false && !state.isAborted) state.abort(gone)
    const ended = this.#active.values.filter((state) => hasEnded(state.response) && !mayWait(state))
    const before = this.#ended
    this.#ended = new Set(ended.filter((state) => !before.has(state)))
    for (const state of ended) if (before.has(state)) state.response.destroy()
  }
}

/** GatewayResponse holds the end of some answers back. */
function hasEnded(response: ServerResponse & { readonly isEnding?: boolean }): boolean {
  return response.writableEnded || response.isEnding === true
}

function mayWait({ response, isLongRunning, isAborted, tenantElsewhere, summary }: Answered): boolean {
  const { info, controlPlane } = summary
  const isCounted = controlPlane !== undefined || tenantElsewhere !== undefined
  return isLongRunning && !isAborted && isCounted && info?.verb !== "watch" && response.statusCode < 400
}
