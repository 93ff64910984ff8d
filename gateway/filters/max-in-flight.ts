// Limits the requests in flight per control plane. Requests above the limit wait, and above the limit of waiting requests they are
// rejected with 429. Long-running requests have a separate limit, so that watches cannot starve other requests.

import type { StatusError } from "../../apimachinery/status.ts"
import { tooManyAtOnce } from "../../apimachinery/text-errors.ts"
import { queue } from "../metrics/flow-counts.ts"
import type { GatewayLimits } from "../options.ts"
import { isLongRunning } from "../request/long-running.ts"
import { Places } from "../request/places.ts"
import type { Presence } from "../tenancy/presence.ts"
import type { Filter } from "./chain.ts"
import type { RequestState } from "./state.ts"

const retryAfterSeconds = 1

interface InFlight {
  places: Places
  longRunning: number
}

type InFlightLimits = Pick<GatewayLimits, "maxInFlight" | "maxWaiting" | "maxLongRunning">

export function withMaxInFlight(limits: InFlightLimits): Filter {
  // A tenant keeps its presence, like its watches, when it sleeps and wakes.
  const all = new WeakMap<Presence, InFlight>()
  return (_request, response, next) => {
    const { state } = response.locals
    const goOn = (): void => {
      if (!state.isAborted) next()
    }
    // Requests of the gateway's own components must not wait behind the tenant they work for.
    if (state.isAdministrator) return goOn()
    const { presence } = state.controlPlane
    let own = all.get(presence)
    if (own === undefined) all.set(presence, (own = { places: new Places(limits.maxInFlight), longRunning: 0 }))
    const { places } = own
    if (isLongRunning(state.info)) {
      takeLongRunning(state, own, limits)
      return goOn()
    }
    if (places.isFull && places.waiting >= limits.maxWaiting) throw refused(state)
    const waiting = places.take(state)
    if (waiting === undefined) return goOn()
    queue(state)
    return waiting.then(goOn)
  }
}

function takeLongRunning(state: RequestState, own: InFlight, limits: InFlightLimits): void {
  if (own.longRunning >= limits.maxLongRunning) throw refused(state)
  own.longRunning++
  state.whenDone(() => own.longRunning--)
}

function refused(state: RequestState): StatusError {
  state.flow?.reject("queue-full")
  state.isTerminated = true
  return tooManyAtOnce(retryAfterSeconds)
}
