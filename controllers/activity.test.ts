import { describe, expect, test } from "vitest"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { Activity } from "./activity.ts"
import { slowStart } from "./pods/slow-start.ts"
import { settleAll } from "./settle-all.ts"
import { eventually } from "./testing/harness.ts"

const many = 100

interface Bulk {
  /** Number of calls so far, and the maximum that were in progress at the same time. */
  calls: number
  atOnce: number
}

function start(activity: Activity, tenant: string, count: number): Bulk & { done: Promise<unknown> } {
  let inFlight = 0
  const pace = activity.pace(tenant, count)
  const call = async (): Promise<void> => {
    bulk.calls++
    inFlight++
    await Promise.resolve()
    bulk.atOnce = Math.max(bulk.atOnce, inFlight)
    await Promise.resolve()
    inFlight--
  }
  const bulk = { calls: 0, atOnce: 0, done: Promise.resolve() as Promise<unknown> }
  bulk.done = slowStart(pace, count, call).finally(() => pace[Symbol.dispose]())
  return bulk
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function create(): { clock: FakeClock; activity: Activity; ending: AbortController } {
  const clock = new FakeClock()
  const ending = new AbortController()
  return { clock, ending, activity: new Activity(clock, ending.signal) }
}

describe("bulk work of a tenant", () => {
  test("is not paced while no other tenant has work", async () => {
    const { clock, activity } = create()
    activity.observed("greedy")
    const bulk = start(activity, "greedy", many)
    await bulk.done
    expect(bulk).toMatchObject({ calls: many, atOnce: 4 })
    expect(clock.timers).toBe(0)
  })

  test("is one call at a time with pauses while another tenant has work, and full speed afterwards", async () => {
    const { clock, activity } = create()
    activity.observed("polite")
    const bulk = start(activity, "greedy", many)
    for (let calls = 1; calls < 10; calls++) {
      await eventually(() => expect(clock.timers).toBe(1))
      expect(bulk).toMatchObject({ calls, atOnce: 1 })
      clock.advance(250) // the longest pause
      activity.observed("polite")
    }
    clock.advance(1_000)
    await bulk.done
    expect(bulk).toMatchObject({ calls: many, atOnce: 4 })
    expect(clock.timers).toBe(0)
  })

  test("does not slow down another tenant", async () => {
    const { clock, activity } = create()
    const both = [start(activity, "a", many), start(activity, "b", many)]
    activity.observed("a")
    activity.observed("b")
    await Promise.all(both.map(({ done }) => done))
    expect(clock.timers).toBe(0)
    activity.observed("a")
    expect([activity.hasOthers("a"), activity.hasOthers("b")]).toEqual([false, true])
  })

  test("of few calls is not paced", async () => {
    const { clock, activity } = create()
    activity.observed("polite")
    const bulk = start(activity, "other", 8)
    await bulk.done
    expect(bulk.calls).toBe(8)
    expect(clock.timers).toBe(0)
  })

  test("ends when the process stops", async () => {
    const { activity, ending } = create()
    activity.observed("polite")
    const bulk = start(activity, "greedy", many)
    await turn()
    ending.abort()
    await bulk.done
    expect(bulk.calls).toBe(many)
  })

  test("continues after failures and throws the first one", async () => {
    const { activity } = create()
    const done: number[] = []
    using pace = activity.pace("a", 20)
    const items = Array.from({ length: 20 }, (_, index) => index)
    const failure = await settleAll(pace, items, async (item) => {
      await turn()
      done.push(item)
      if (item % 7 === 6) throw new Error(`of ${item}`)
    })
    expect(done).toEqual(items)
    expect(failure).toEqual(new Error("of 6"))
  })
})

test("hasOthers() covers any number of tenants, for a limited time", () => {
  const { clock, activity } = create()
  for (const name of ["a", "b", "c", "c", "c"]) activity.observed(name)
  expect(["a", "b", "c"].map((name) => activity.hasOthers(name))).toEqual([true, true, true])
  clock.advance(200)
  activity.observed("c")
  clock.advance(100)
  expect(["a", "b", "c"].map((name) => activity.hasOthers(name))).toEqual([true, true, false])
  clock.advance(1_000)
  expect(["a", "b", "c"].map((name) => activity.hasOthers(name))).toEqual([false, false, false])
})
