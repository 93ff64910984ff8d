import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { Places } from "../request/places.ts"
import { RequestState } from "./state.ts"

function stateWith(places: Places): RequestState {
  const state = new RequestState("1", {} as IncomingMessage, new EventEmitter() as ServerResponse, undefined)
  state.largePlaces = places
  return state
}

test("a request whose time is over no longer waits for a large place, and gives its own back", async () => {
  const places = new Places(1)
  const [first, late, next] = [stateWith(places), stateWith(places), stateWith(places)]
  expect(first.enlarge()).toBeUndefined()
  const waiting = late.enlarge()
  late.abort(new Error("its time is over"))
  const over = "request did not complete within requested timeout"
  await expect(waiting).rejects.toThrow(over)
  expect(() => late.enlarge()).toThrow(over)
  first.abort(new Error("its time is over"))
  expect(() => first.enlarge()).toThrow(over)
  expect(next.enlarge()).toBeUndefined()
})
