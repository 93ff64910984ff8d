// Limits the requests in flight per control plane. Requests above the limit wait, and above the limit of waiting requests they are
// rejected with 429. Long-running requests have a separate limit, so that watches cannot starve other requests.

import type { StatusError } from "../../apimachinery/status.ts"
import { tooManyAtOnce } from "../../apimachinery/text-errors.ts"
import { queue } from "../metrics/flow-counts.ts"
import type { GatewayLimits } from "../options.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Presence } from "../tenancy/presence.ts"
import type { Filter } from "./chain.ts"
import type { RequestState } from "./state.ts"

const retryAfterSeconds = 1

interface Places {
  active: number
  longRunning: number
  waiting: Set<() => void>
}

type InFlightLimits = Pick<GatewayLimits, "maxInFlight" | "maxWaiting" | "maxLongRunning">

export function withMaxInFlight(limits: InFlightLimits): Filter {
  // A tenant keeps its presence, like its watches, when it sleeps and wakes.
  const places = new WeakMap<Presence, Places>()
  return (_request, response, next) => {
    const { state } = response.locals
    const goOn = (): void => {
      if (!state.isAborted) next()
    }
    // Requests of the gateway's own components must not wait behind the tenant they work for.
    if (state.isAdministrator) return goOn()
    const { presence } = state.controlPlane
    let own = places.get(presence)
    if (own === undefined) places.set(presence, (own = { active: 0, longRunning: 0, waiting: new Set() }))
    if (isLongRunning(state.info)) takeLongRunning(state, own, limits)
    else if (own.active < limits.maxInFlight) takePlace(state, own)
    else {
      if (own.waiting.size >= limits.maxWaiting) throw refused(state)
      queue(state)
      return waitForPlace(state, own).then(goOn)
    }
    goOn()
  }
}

function takeLongRunning(state: RequestState, places: Places, limits: InFlightLimits): void {
  if (places.longRunning >= limits.maxLongRunning) throw refused(state)
  places.longRunning++
  state.whenDone(() => places.longRunning--)
}

function takePlace(state: RequestState, places: Places): void {
  places.active++
  giveOn(state, places)
}

function giveOn(state: RequestState, places: Places): void {
  state.whenDone(() => {
    // A released place goes directly to the request that has waited longest.
    const [next] = places.waiting
    if (next === undefined) places.active--
    else {
      places.waiting.delete(next)
      next()
    }
  })
}

/** Resolves with a place, or when the request has ended: the caller must check the signal. */
async function waitForPlace(state: RequestState, places: Places): Promise<void> {
  const called = await new Promise<boolean>((resolve) => {
    const call = (): void => resolve(true)
    places.waiting.add(call)
    state.whenDone(() => {
      // It got a place and ended at the same time: whenDone of the place releases it.
      if (places.waiting.delete(call)) resolve(false)
    })
  })
  if (called) giveOn(state, places)
}

function refused(state: RequestState): StatusError {
  state.flow?.reject("queue-full")
  state.isTerminated = true
  return tooManyAtOnce(retryAfterSeconds)
}
