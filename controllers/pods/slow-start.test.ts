import { describe, expect, test } from "vitest"
import type { Pace } from "../activity.ts"
import { slowStart, type SlowStartOptions } from "./slow-start.ts"

const pace: Pace = { batch: 4, rest: () => Promise.resolve(), [Symbol.dispose]: () => undefined }

/** Number of calls started in each batch; calls from `failing` on fail. */
async function batches(
  count: number,
  failing = count,
  options: SlowStartOptions = {},
): Promise<{ sizes: number[]; succeeded: number }> {
  const sizes: number[] = []
  let inFlight = 0
  const call = async (index: number): Promise<void> => {
    if (inFlight++ === 0) sizes.push(0)
    sizes.push((sizes.pop() ?? 0) + 1)
    await new Promise((resolve) => setImmediate(resolve))
    inFlight--
    if (index >= failing) throw new Error("no")
  }
  const { succeeded, error } = await slowStart(pace, count, call, options)
  expect(error === undefined).toBe(failing === count)
  return { sizes, succeeded }
}

describe("slow-start calls", () => {
  test("begin with one and double up to the batch limit", async () => {
    expect(await batches(13)).toEqual({ sizes: [1, 2, 4, 4, 2], succeeded: 13 })
    expect(await batches(0)).toEqual({ sizes: [], succeeded: 0 })
  })

  test("end with the first batch that has a failure", async () => {
    expect(await batches(10, 2)).toEqual({ sizes: [1, 2], succeeded: 2 })
    expect(await batches(10, 0)).toEqual({ sizes: [1], succeeded: 0 })
  })

  test("finish the batch that has a failure, if they are to be whole", async () => {
    expect(await batches(10, 2, { isWhole: true })).toEqual({ sizes: [1, 2], succeeded: 2 })
    expect(await batches(20, 6, { isWhole: true })).toEqual({ sizes: [1, 2, 4], succeeded: 6 })
    expect(await batches(20, 7, { isWhole: true })).toEqual({ sizes: [1, 2, 4, 4, 4], succeeded: 7 })
    expect(await batches(13, 13, { isWhole: true })).toEqual({ sizes: [1, 2, 4, 4, 2], succeeded: 13 })
  })
})
