import { setImmediate as nextTurn } from "node:timers/promises"
import { beforeEach, describe, expect, test } from "vitest"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import { Presence } from "../tenancy/presence.ts"
import type { Filter, GatewayRequest, GatewayResponse } from "./chain.ts"
import { withFairTurns } from "./fair-turns.ts"

let filter: Filter
let begun: string[]
const planes = new Map<string, ControlPlane>()

beforeEach(() => {
  filter = withFairTurns()
  begun = []
  planes.clear()
})

function send(tenant: string, name: string, more: { isAdministrator?: boolean; isOver?: boolean } = {}): void {
  const controlPlane = planes.get(tenant) ?? ({ presence: new Presence() } as ControlPlane)
  planes.set(tenant, controlPlane)
  const order = begun // this test's, whenever it begins
  const state = { isAdministrator: false, isOver: false, controlPlane, ...more }
  void filter({} as GatewayRequest, { locals: { state } } as unknown as GatewayResponse, () =>
    order.push(`${tenant}${name}`),
  )
}

describe("fair turns", () => {
  test("a request that comes alone begins at once", () => {
    send("a", "1")
    expect(begun).toEqual(["a1"])
  })

  test("one of another tenant begins before the rest of a crowd that came first", async () => {
    for (let index = 1; index <= 20; index++) send("a", String(index))
    send("b", "1")
    expect(begun).toEqual(["a1", "a2", "a3", "a4"])
    await nextTurn()
    expect(begun.slice(4)).toEqual(["a5", "b1", "a6", "a7"])
  })

  test("all begin, in the order in which each tenant sent them", async () => {
    const names = Array.from({ length: 30 }, (_, index) => String(index))
    for (const name of names) for (const tenant of ["a", "b", "c"]) send(tenant, name)
    while (begun.length < 90) await nextTurn()
    for (const tenant of ["a", "b", "c"]) {
      expect(begun.filter((name) => name.startsWith(tenant))).toEqual(names.map((name) => `${tenant}${name}`))
    }
  })

  test("the gateway's own parts do not wait", () => {
    for (let index = 1; index <= 20; index++) send("a", String(index))
    send("a", "own", { isAdministrator: true })
    expect(begun.at(-1)).toBe("aown")
  })

  test("who has gone away meanwhile does not begin", async () => {
    for (let index = 1; index <= 4; index++) send("a", String(index))
    send("a", "gone", { isOver: true })
    send("a", "5")
    await nextTurn()
    expect(begun).toEqual(["a1", "a2", "a3", "a4", "a5"])
  })
})
