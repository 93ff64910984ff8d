import { describe, expect, test } from "vitest"
import type { Pace } from "../activity.ts"
import { slowStart } from "./slow-start.ts"

const pace: Pace = { batch: 4, rest: () => Promise.resolve(), [Symbol.dispose]: () => undefined }

/** How many calls were begun in each batch; from `failing` on they fail. */
async function batches(
  count: number,
  first?: number,
  failing = count,
): Promise<{ sizes: number[]; succeeded: number }> {
  const sizes: number[] = []
  let underWay = 0
  const call = async (index: number): Promise<void> => {
    if (underWay++ === 0) sizes.push(0)
    sizes.push((sizes.pop() ?? 0) + 1)
    await new Promise((resolve) => setImmediate(resolve))
    underWay--
    if (index >= failing) throw new Error("no")
  }
  const { succeeded, error } = await slowStart(pace, count, call, first)
  expect(error === undefined).toBe(failing === count)
  return { sizes, succeeded }
}

describe("calls that may all fail alike", () => {
  test.for([
    { name: "begin with one and double", count: 10, first: undefined, sizes: [1, 2, 4, 3] },
    { name: "begin together where they are expected to succeed", count: 3, first: 4, sizes: [3] },
    { name: "are never more at once than others leave", count: 10, first: 100, sizes: [4, 4, 2] },
    { name: "are none of nothing", count: 0, first: undefined, sizes: [] },
  ])("$name", async ({ count, first, sizes }) => {
    expect(await batches(count, first)).toEqual({ sizes, succeeded: count })
  })

  test("end with the batch in which one fails", async () => {
    expect(await batches(10, undefined, 2)).toEqual({ sizes: [1, 2], succeeded: 2 })
    expect(await batches(10, 4, 0)).toEqual({ sizes: [4], succeeded: 0 })
  })
})
