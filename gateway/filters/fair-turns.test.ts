import { beforeEach, describe, expect, test } from "vitest"
import { ThreadPlaces } from "../request/thread-places.ts"
import { Turns } from "../request/turns.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { Presence } from "../tenancy/presence.ts"
import type { Filter, GatewayRequest, GatewayResponse } from "./chain.ts"
import { withFairTurns } from "./fair-turns.ts"
import type { RequestState } from "./state.ts"

let filter: Filter
let begun: string[]
/** Milliseconds. */
let clock: number
let controlPlane: ControlPlane

beforeEach(() => {
  clock = 0
  const turns = new Turns({ now: () => clock })
  controlPlane = { presence: new Presence(), turns, threadPlaces: new ThreadPlaces(1) } as ControlPlane
  filter = withFairTurns()
  begun = []
})

interface Sent {
  state: { turn?: unknown } & Pick<RequestState, "aside" | "largePlaces">
  done: Promise<void>
}

function send(name: string, more: { isAdministrator?: boolean; isOver?: boolean; info?: { verb: string } } = {}): Sent {
  const state = { isAdministrator: false, isOver: false, controlPlane, info: { verb: "list" }, ...more }
  const done = filter({} as GatewayRequest, { locals: { state } } as unknown as GatewayResponse, () => {
    begun.push(name)
  })
  return { state: state as unknown as Sent["state"], done: Promise.resolve(done) }
}

describe("fair turns", () => {
  test("a single request starts immediately and can request further turns", () => {
    expect(send("1").state.turn).toBeTypeOf("function")
    expect(begun).toEqual(["1"])
  })

  test("requests that do not fit into the turn start later", async () => {
    send("1")
    clock += 5
    const second = send("2")
    expect(begun).toEqual(["1"])
    await second.done
    expect(begun).toEqual(["1", "2"])
  })

  test("the gateway's own parts do not wait", () => {
    send("1")
    clock += 5
    expect(send("own", { isAdministrator: true }).state.turn).toBeUndefined()
    expect(begun).toEqual(["1", "own"])
  })

  test("work in other threads also has turns", async () => {
    const order: string[] = []
    const { aside } = send("1").state
    const end = Promise.withResolvers<void>()
    const first = aside?.(() => end.promise.then(() => order.push("first")))
    const second = aside?.(async () => order.push("second"))
    expect(order).toEqual([])
    end.resolve()
    await Promise.all([first, second])
    expect(order).toEqual(["first", "second"])
  })

  test("watches do not take the places of lists", () => {
    const list = send("1").state.largePlaces
    const watch = send("2", { info: { verb: "watch" } }).state.largePlaces
    expect(watch).not.toBe(list)
    expect(send("3", { info: { verb: "watch" } }).state.largePlaces).toBe(watch)
    expect(send("4").state.largePlaces).toBe(list)
  })

  test("a request of a disconnected client does not start", async () => {
    send("1")
    clock += 5
    await Promise.all([send("gone", { isOver: true }).done, send("2").done])
    expect(begun).toEqual(["1", "2"])
  })
})
