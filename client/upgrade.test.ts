import { once } from "node:events"
import { PassThrough } from "node:stream"
import { describe, expect, test } from "vitest"
import { forwardedHeaders, join } from "./upgrade.ts"

describe("join()", () => {
  test("the end of one side is the end of the other", async () => {
    for (const first of [0, 1]) {
      const sides = [new PassThrough(), new PassThrough()] as const
      join(...sides)
      sides[first as 0 | 1].destroy()
      if (!sides[1 - first]?.destroyed) await once(sides[(1 - first) as 0 | 1], "close")
      expect(sides.map(({ destroyed }) => destroyed)).toEqual([true, true])
    }
  })

  test("a failure of one side cuts the other, and is nobody else's", async () => {
    const [one, other] = [new PassThrough(), new PassThrough()]
    join(one, other)
    one.destroy(new Error("reset"))
    await once(other, "close")
    expect(other.destroyed).toBe(true)
  })

  test("a side that is gone already takes the other along", () => {
    const [one, other] = [new PassThrough(), new PassThrough()]
    one.destroy()
    join(one, other)
    expect(other.destroyed).toBe(true)
  })
})

test("forwardedHeaders() leaves out the connection's own and the credential", () => {
  const headers = {
    host: "a",
    authorization: "Bearer x",
    connection: "Upgrade",
    upgrade: "SPDY/3.1",
    "content-length": "0",
    "x-stream-protocol-version": "v4",
    "sec-websocket-key": "k",
  }
  expect(forwardedHeaders(headers)).toEqual({ "x-stream-protocol-version": "v4", "sec-websocket-key": "k" })
})
