// Limits the duration of requests that are not long-running (a client may set a shorter ?timeout=). After the timeout the work is
// cancelled and the caller gets 504, unless the response has begun. Source: k8s.io/apiserver/pkg/endpoints/filters/request_deadline.go,
// k8s.io/apiserver/pkg/server/filters/timeout.go.

import { badRequest, timeout } from "../../apimachinery/status.ts"
import { durationFault, parseGoDuration } from "../../apimachinery/go/duration.ts"
import { isForAdmin } from "./admin.ts"
import { isLongRunning } from "../request/long-running.ts"
import { Deadlines } from "../request/deadlines.ts"
import { answerTimedOut, writeStatus } from "./errors.ts"
import type { Filter, GatewayRequest, GatewayResponse } from "./chain.ts"

/** A shorter timeout expires at once, because timers are not that precise. */
const shortestMs = 1

/** As upstream, a timeout that is none is refused before it is known who asks. */
export const readTimeout: Filter = (_request, response, next) => {
  const { state } = response.locals
  if (!isLongRunning(state.info) && !isForAdmin(state.named)) state.askedMs = askedTime(state.query)
  next()
}

/** Limits the requests whose asked time, if there is one, has been read. */
export function withTimeout(limitMs: number): Filter {
  const deadlines = new Deadlines(limitMs)
  return (_request, response, next) => {
    const { state } = response.locals
    if (!isLongRunning(state.info)) {
      const expire = (): void => {
        const error = timeout("request did not complete within the allotted timeout")
        state.isTerminated = true
        state.abort(error)
        answerTimedOut(response, error)
      }
      const { askedMs: asked } = state
      state.deadline = performance.now() + Math.min(asked ?? limitMs, limitMs)
      if (asked !== undefined && asked < shortestMs) return expire()
      const end = asked === undefined || asked >= limitMs ? deadlines.add(expire) : expireAfter(asked, expire)
      state.whenDone(end)
      state.endTimeLimit = end
    }
    next()
  }
}

function expireAfter(ms: number, expire: () => void): () => void {
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}

function askedTime(query: URLSearchParams): number | undefined {
  const text = query.get("timeout")
  if (text === null || text === "") return undefined
  const asked = parseGoDuration(text)
  if (asked === undefined) throw badRequest(`invalid timeout specified in the request URL - ${durationFault(text)}`)
  return asked <= 0 ? undefined : asked
}

/** The time of writes of one object, within that of all requests. Source: k8s.io/apiserver/pkg/endpoints/handlers/finisher. */
export class WriteTimeout {
  readonly #limitMs: number
  readonly #deadlines: Deadlines

  constructor(limitMs: number) {
    this.#limitMs = limitMs
    this.#deadlines = new Deadlines(limitMs)
  }

  begin(request: GatewayRequest, response: GatewayResponse): void {
    const { state } = response.locals
    const due = performance.now() + this.#limitMs
    if (state.deadline !== undefined && state.deadline <= due) return
    state.deadline = due
    const expire = (): void => {
      if (response.headersSent) return // it is done, and its answer has the time that all requests have
      const error = timeout("request did not complete within requested timeout - context deadline exceeded")
      state.abort(error)
      writeStatus(request, response, error)
    }
    state.whenDone(this.#deadlines.add(expire))
  }
}
