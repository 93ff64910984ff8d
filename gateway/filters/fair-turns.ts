// One thread serves all tenants: who sends many requests at once must not have all of them begun before another tenant's
// one. In one turn of the event loop only so many requests begin; further ones wait, and begin in turn over control planes.
// Without a crowd a request begins at once.

import type { Presence } from "../tenancy/presence.ts"
import type { Filter, RequestState } from "./state.ts"

/** Requests begun in one turn of the event loop: what they do at once, together, is what anybody else waits for. */
const beginsPerTurn = 4

type Begin = () => void

export function withFairTurns(): Filter {
  const turns = new Turns()
  return (_request, response, next) => {
    const { state } = response.locals
    // What the gateway's own parts do must not wait behind the tenant they work for.
    if (state.isAdministrator) next()
    else turns.take(state, next)
  }
}

class Turns {
  /** Those that wait, by control plane; in the order of their next turn. */
  readonly #waiting = new Map<Presence, Begin[]>()
  #begun = 0
  #scheduled = false

  take(state: RequestState, begin: Begin): void {
    this.#schedule()
    if (this.#waiting.size === 0 && this.#begun < beginsPerTurn) {
      this.#begun++
      begin()
      return
    }
    const { presence } = state.controlPlane
    const begins = this.#waiting.get(presence)
    const unlessOver = (): void => {
      if (!state.isOver) begin()
    }
    if (begins === undefined) this.#waiting.set(presence, [unlessOver])
    else begins.push(unlessOver)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#scheduled = false
    this.#begun = 0
    while (this.#begun < beginsPerTurn) {
      const [first] = this.#waiting
      if (first === undefined) return
      const [presence, begins] = first
      // To the end of the line, if more of its requests wait.
      this.#waiting.delete(presence)
      const begin = begins.shift()
      if (begins.length > 0) this.#waiting.set(presence, begins)
      this.#begun++
      begin?.()
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}
