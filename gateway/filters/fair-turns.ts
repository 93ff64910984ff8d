// One thread serves all tenants: many requests of one tenant must not all be processed before a single request of another. A
// request waits here for its control plane's turn, and asks for another turn when it continues after waiting for something else
// (request/turns.ts). Without contention it starts at once. Work in other threads is shared among control planes in the same
// way (request/thread-places.ts).

import type { HoldUnsent } from "../../client/http/unsent.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { dispatch, queue } from "../metrics/flow-counts.ts"
import { bodyPlaces, listPlaces, watchPlaces } from "../request/large-places.ts"
import { Places } from "../request/places.ts"
import type { ThreadPlaces } from "../request/thread-places.ts"
import { UnreadBytes } from "../request/unread-bytes.ts"
import type { Turns } from "../request/turns.ts"
import { defaultLimits, type GatewayLimits } from "../options.ts"
import type { Presence } from "../tenancy/presence.ts"
import type { Filter } from "./chain.ts"
import type { RequestState } from "./state.ts"

type FairLimits = Pick<GatewayLimits, "maxUnreadWatchBytes" | "maxUnsentBytes">

export function withFairTurns(limits: FairLimits = defaultLimits): Filter {
  const shares = new WeakMap<Presence, Share>()
  return (_request, response, next) => {
    const { state } = response.locals
    // Requests of the gateway's own components must not wait behind the tenant they work for.
    if (state.isAdministrator) return begin(state, next)
    const { controlPlane } = state
    let share = shares.get(controlPlane.presence)
    if (share === undefined) shares.set(controlPlane.presence, (share = new Share(controlPlane, limits)))
    state.turn = share.turn
    state.pause = share.pause
    state.aside = share.aside
    state.largePlaces = state.info.verb === "watch" ? share.largeWatches : share.largePlaces
    state.largeBodies = share.largeBodies
    state.unread = share.unread
    state.holdUnsent = share.holdUnsent
    const waiting = share.turn()
    if (waiting === undefined) return begin(state, next)
    queue(state)
    return waiting.then(() => {
      if (!state.isOver) begin(state, next)
    })
  }
}

function begin(state: RequestState, next: () => void): void {
  state.waitedMs += dispatch(state)
  next()
}

/** The functions that requests of one control plane call, created once for all of them. */
class Share {
  readonly #turns: Turns
  readonly #places: ThreadPlaces
  readonly #presence: Presence
  readonly largePlaces = new Places(listPlaces)
  readonly largeWatches = new Places(watchPlaces)
  readonly largeBodies = new Places(bodyPlaces)
  readonly unread: UnreadBytes
  readonly #unsent: UnreadBytes
  readonly holdUnsent: HoldUnsent = (bytes, cut) => this.#unsent.add(bytes, cut)
  readonly turn = (): Promise<void> | undefined => this.#turns.take(this.#presence)
  readonly pause = (): Promise<void> | undefined => this.#turns.pause(this.#presence)
  readonly aside = <T>(job: () => Promise<T>): Promise<T> => this.#places.run(this.#presence, job)

  constructor({ turns, threadPlaces, presence }: ControlPlane, limits: FairLimits) {
    this.#turns = turns
    this.#places = threadPlaces
    this.#presence = presence
    this.unread = new UnreadBytes(limits.maxUnreadWatchBytes)
    this.#unsent = new UnreadBytes(limits.maxUnsentBytes)
  }
}
