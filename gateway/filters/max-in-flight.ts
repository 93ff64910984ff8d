// Each control plane has its own places: a tenant that asks more than its share waits behind itself, and beyond its waiting
// room is told to come back later. Long-running requests have places of their own, so that watches starve nobody.

import { type StatusError, tooManyRequests } from "../../apimachinery/status.ts"
import { queue } from "../metrics/flow-counts.ts"
import type { GatewayLimits } from "../options.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Presence } from "../tenancy/presence.ts"
import type { Filter, RequestState } from "./state.ts"

const retryAfterSeconds = 1

interface Places {
  active: number
  longRunning: number
  waiting: Set<() => void>
}

type InFlightLimits = Pick<GatewayLimits, "maxInFlight" | "maxWaiting" | "maxLongRunning">

export function withMaxInFlight(limits: InFlightLimits): Filter {
  // A tenant's presence stays the same when it sleeps and wakes, as its watches do.
  const places = new WeakMap<Presence, Places>()
  return (_request, response, next) => {
    const { state } = response.locals
    const goOn = (): void => {
      if (!state.isAborted) next()
    }
    // What the gateway's own parts do must not wait behind the tenant they work for.
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
    // A place goes straight to the one who waits longest.
    const [next] = places.waiting
    if (next === undefined) places.active--
    else {
      places.waiting.delete(next)
      next()
    }
  })
}

/** Resolves with a place, or when the request is over: who calls looks at the signal. */
async function waitForPlace(state: RequestState, places: Places): Promise<void> {
  const called = await new Promise<boolean>((resolve) => {
    const call = (): void => resolve(true)
    places.waiting.add(call)
    state.whenDone(() => {
      // Called and gone at once: whenDone of the place itself gives it on.
      if (places.waiting.delete(call)) resolve(false)
    })
  })
  if (called) giveOn(state, places)
}

function refused(state: RequestState): StatusError {
  state.flow?.reject("queue-full")
  state.isTerminated = true
  return tooManyRequests("too many requests, please try again later", retryAfterSeconds)
}
