import { expect, test } from "vitest"
import { ForwardedShares } from "./forwarded-shares.ts"

test("the end of a stream that was cut forgets nothing that has begun since", () => {
  const shares = new ForwardedShares({ maxInFlight: 1, maxWaiting: 0, maxLongRunning: 0, maxUnsentBytes: 10 })
  const hold = shares.holdFor("a")
  let cuts = 0
  const endOfCut = hold(10, () => cuts++)
  hold(1, () => cuts++)?.()
  expect(cuts).toBe(1)
  const answered = shares.begin("a")
  endOfCut?.()
  expect(() => shares.begin("a")).toThrow(expect.objectContaining({ code: 429 }))
  answered()
  shares.begin("a")
})
