// Limits the duration of requests that are not long-running (a client may set a shorter ?timeout=). After the timeout the work is
// cancelled and the caller gets 504, unless the response has begun. Source: k8s.io/apiserver/pkg/endpoints/filters/request_deadline.go.

import { badRequest, timeout } from "../../apimachinery/status.ts"
import { durationFault, parseGoDuration } from "../../apimachinery/go/duration.ts"
import { isLongRunning } from "../request/long-running.ts"
import { Deadlines } from "../request/deadlines.ts"
import { writeStatus } from "./errors.ts"
import type { Filter } from "./chain.ts"

/** A shorter timeout expires at once, because timers are not that precise. */
const shortestMs = 1

export function withTimeout(limitMs: number): Filter {
  const deadlines = new Deadlines(limitMs)
  return (request, response, next) => {
    const { state } = response.locals
    if (!isLongRunning(state.info)) {
      const expire = (): void => {
        const error = timeout("request did not complete within the allotted timeout")
        state.isTerminated = true
        state.abort(error)
        writeStatus(request, response, error)
      }
      const asked = askedTime(state.query)
      state.deadline = performance.now() + Math.min(asked ?? limitMs, limitMs)
      if (asked === undefined || asked >= limitMs) {
        state.whenDone(deadlines.add(expire))
      } else if (asked < shortestMs) {
        return expire()
      } else {
        const timer = setTimeout(expire, asked)
        state.whenDone(() => clearTimeout(timer))
      }
    }
    next()
  }
}

function askedTime(query: URLSearchParams): number | undefined {
  const text = query.get("timeout")
  if (text === null || text === "") return undefined
  const asked = parseGoDuration(text)
  if (asked === undefined) throw badRequest(`invalid timeout specified in the request URL - ${durationFault(text)}`)
  return asked <= 0 ? undefined : asked
}
