import { expect, test } from "vitest"
import { Comparisons } from "./comparisons.ts"

test("a tenant has one comparison at a time, and one more for all requests in between", async () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const comparisons = new Comparisons((tenant) => {
    begun.push(tenant)
    return new Promise((resolve) => ends.push(resolve))
  })
  const all = ["a", "b", "a", "a", "a"].map((tenant) => comparisons.ask(tenant))
  expect(begun).toEqual(["a", "b"])
  ends.splice(0).forEach((end) => end())
  await all[1]
  await expect.poll(() => begun).toEqual(["a", "b", "a"])
  expect([comparisons.isBusy("a"), comparisons.isBusy("b")]).toEqual([true, false])
  ends.splice(0).forEach((end) => end())
  await all[0]
  expect([begun.length, comparisons.isBusy("a")]).toEqual([3, false])
})
