// One thread serves all tenants: who sends many requests at once must not have all of them worked on before another tenant's
// one. A request waits here for its control plane's turn, and asks for another one where it goes on after waiting for
// something else (request/turns.ts). Without a crowd it begins at once. What it has done beside the thread is done in turn over
// control planes likewise (request/thread-places.ts).

import { dispatch, queue } from "../metrics/flow-counts.ts"
import type { ThreadPlaces } from "../request/thread-places.ts"
import type { Turns } from "../request/turns.ts"
import type { Filter } from "./state.ts"

export function withFairTurns(turns: Turns, places: ThreadPlaces): Filter {
  return (_request, response, next) => {
    const { state } = response.locals
    const begin = (): void => {
      state.waitedMs += dispatch(state)
      next()
    }
    // What the gateway's own parts do must not wait behind the tenant they work for.
    if (state.isAdministrator) return begin()
    const { presence } = state.controlPlane
    state.turn = () => turns.take(presence)
    state.pause = () => turns.pause(presence)
    state.aside = (job) => places.run(presence, job)
    const waiting = state.turn()
    if (waiting === undefined) return begin()
    queue(state)
    return waiting.then(() => {
      if (!state.isOver) begin()
    })
  }
}
