import { setImmediate as nextTurn } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { Presence } from "../tenancy/presence.ts"
import { Turns } from "./turns.ts"

let turns: Turns
let done: string[]
/** Milliseconds. */
let clock: number
const tenants = new Map<string, Presence>()

beforeEach(() => {
  clock = 0
  turns = new Turns({ now: () => clock })
  done = []
  tenants.clear()
})

/** Occupies the thread for some time, then records its end. */
async function work(tenant: string, name: string, ms = 0): Promise<void> {
  const presence = tenants.get(tenant) ?? new Presence()
  tenants.set(tenant, presence)
  const order = done // that of this test, whenever the work ends
  const waiting = turns.take(presence)
  if (waiting !== undefined) await waiting
  clock += ms
  order.push(`${tenant}${name}`)
}

describe("turns", () => {
  test("a single request continues immediately", () => {
    void work("a", "1")
    expect(done).toEqual(["a1"])
  })

  test("after one request has held the thread for long, others wait for the next turn of the event loop", async () => {
    void work("a", "1", 5)
    void work("a", "2", 5)
    expect(done).toEqual(["a1"])
    expect(turns.waiting).toBe(1)
    while (turns.waiting > 0) await nextTurn()
    expect(done).toEqual(["a1", "a2"])
  })

  test("so many trifles may be done in every turn of the event loop, whoever works in it", async () => {
    const trifles = (): number => {
      let count = 0
      while (turns.trifle()) count++
      return count
    }
    const first = trifles()
    expect(first).toBeGreaterThan(1000)
    expect(trifles()).toBe(0)
    await nextTurn()
    expect(trifles()).toBe(first)
    const crowd = Array.from({ length: 3 }, (_, index) => work("a", String(index), 3))
    await Promise.all(crowd)
    await nextTurn()
    expect(trifles()).toBe(first)
  })

  test("a late tenant is served before the queued requests of another tenant", async () => {
    const crowd = Array.from({ length: 50 }, (_, index) => work("a", String(index), 3))
    await nextTurn()
    const late = work("b", "1")
    await late
    expect(done.indexOf("b1")).toBeLessThan(10)
    await Promise.all(crowd)
    expect(done).toHaveLength(51)
  })

  test("a small request continues immediately beside another tenant's queue, once per round", async () => {
    const crowd = Array.from({ length: 50 }, (_, index) => work("a", String(index), 3))
    await nextTurn()
    void work("b", "1")
    expect(done.at(-1)).toBe("b1")
    const second = work("b", "2")
    expect(done.at(-1)).toBe("b1")
    await second
    expect(done.indexOf("b2")).toBeLessThan(done.indexOf("b1") + 5)
    await Promise.all(crowd)
  })

  test("only a few of many new tenants continue immediately, and the others wait for later turns", async () => {
    const first = work("a", "1", 5)
    const crowd = Array.from({ length: 50 }, (_, index) => work(`t${index}`, "", 3))
    expect(done.length).toBeLessThan(10)
    expect(turns.waiting).toBeGreaterThan(40)
    await Promise.all([first, ...crowd])
    expect(done).toHaveLength(51)
  })

  test("tenants get equal time, so short requests overtake queued long ones", async () => {
    const all = Array.from({ length: 20 }, (_, index) => [
      work("long", String(index), 3),
      work("short", String(index), 0.2),
    ]).flat()
    await Promise.all(all)
    const lastShort = done.lastIndexOf("short19")
    const longBefore = done.slice(0, lastShort).filter((name) => name.startsWith("long")).length
    expect(longBefore).toBeLessThan(15)
  })

  test("long work that pauses between its steps lets requests that arrived meanwhile run first", async () => {
    const long = new Presence()
    const steps = (async () => {
      for (let step = 1; step <= 5; step++) {
        clock += 3
        done.push(`step${step}`)
        await turns.pause(long)
      }
    })()
    void work("a", "1")
    await Promise.all([steps, work("b", "1")])
    expect(done.indexOf("a1")).toBeLessThan(done.indexOf("step2"))
    expect(done.indexOf("b1")).toBeLessThan(done.indexOf("step2"))
    expect(done).toHaveLength(7)
  })

  test("short work continues without a pause, within the time that the caller passes", () => {
    void work("a", "1", 0.5)
    expect(turns.pause(new Presence())).toBeUndefined()
    clock += 3
    expect(turns.pause(new Presence(), 5)).toBeUndefined()
    expect(turns.pause(new Presence())).toBeInstanceOf(Promise)
  })

  test("one request continues per turn of the loop, even if the turn is late", async () => {
    const late = new Turns({ now: () => (clock += 5) })
    for (let index = 0; index < 3; index++) void late.pause(new Presence())
    expect(late.waiting).toBe(2)
    for (let turn = 0; late.waiting > 0 && turn < 10; turn++) await nextTurn()
    expect(late.waiting).toBe(0)
  })

  test("all requests continue, in order of arrival per tenant", async () => {
    const names = Array.from({ length: 40 }, (_, index) => String(index))
    const all = names.flatMap((name) => ["a", "b", "c"].map((tenant) => work(tenant, name, 0.2)))
    await Promise.all(all)
    for (const tenant of ["a", "b", "c"]) {
      expect(done.filter((name) => name.startsWith(tenant))).toEqual(names.map((name) => `${tenant}${name}`))
    }
  })

  test("the event loop turns between requests, so that sockets and timers are served", async () => {
    const all = Array.from({ length: 20 }, (_, index) => work("a", String(index), 2))
    const times: number[] = []
    while (turns.waiting > 0) {
      await nextTurn()
      times.push(clock)
    }
    await Promise.all(all)
    const held = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(Math.max(...held)).toBe(2) // each of them uses up a turn
  })
})

describe("long work", () => {
  const limits = { maxLongWorkMs: 1000 }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const now = (): number => clock
    turns = new Turns({ limits, now, worked: now })
  })
  afterEach(() => void vi.useRealTimers())

  async function pass(ms: number): Promise<void> {
    clock += ms
    vi.advanceTimersByTime(ms)
    await nextTurn()
    while (turns.waiting > 0) await nextTurn()
    await nextTurn()
  }

  function many(tenant: string, count: number, ms: number): string[] {
    const names = Array.from({ length: count }, (_, index) => String(index))
    for (const name of names) void work(tenant, name, ms)
    return names.map((name) => tenant + name)
  }

  test("a tenant whose requests are long again and again rests between them, and others go on", async () => {
    const names = many("a", 8, 200)
    await pass(0)
    // 1,000 ms are free, and a twentieth of the time pays for more: six times 200 ms leave 150 ms to be paid.
    expect(done).toEqual(names.slice(0, 6))
    await work("b", "1")
    await pass(2999)
    expect(done).toEqual([...names.slice(0, 6), "b1"])
    await pass(1)
    expect(done.slice(7)).toEqual(["a6"])
    await pass(3800)
    expect(done.slice(7)).toEqual(["a6", "a7"])
  })

  test("a tenant that begins to rest when its next request would be granted loses none", async () => {
    const who = new Presence()
    let granted = 0
    void turns.take({})
    clock += 2
    for (let index = 0; index < 3; index++) void turns.take(who)?.then(() => granted++)
    // Between the end of the turn and the first grant of the next one.
    setImmediate(() => {
      void turns.pause(who)
      clock += 2000
    })
    await nextTurn()
    await nextTurn()
    expect([granted, turns.waiting]).toEqual([0, 0])
    await pass(30_000)
    expect([granted, turns.waiting]).toEqual([2, 0])
  })

  test("what it owes is forgiven in time", async () => {
    many("a", 6, 200)
    await pass(0)
    await pass(24_000)
    const names = many("a", 6, 200)
    await pass(0)
    expect(done.slice(6)).toEqual(names)
  })

  test("no rest is longer than a request may wait", async () => {
    many("a", 1, 60_000)
    await pass(0)
    many("a", 1, 0)
    await pass(29_999)
    expect(done).toHaveLength(1)
    await pass(1)
    expect(done).toHaveLength(2)
  })

  test("any number of short requests goes on, and so does what the gateway's own parts do", async () => {
    const short = many("a", 100, 99)
    await pass(0)
    expect(done).toEqual(short)
    const part = {}
    for (let step = 0; step < 20; step++) {
      const waiting = turns.pause(part)
      await pass(0)
      await waiting
      clock += 1000
    }
  })

  test("a tenant whose requests only wait for a processor does not rest", async () => {
    turns = new Turns({ limits, now: () => clock, worked: () => 0 })
    const names = many("a", 20, 200)
    await pass(0)
    expect(done).toEqual(names)
  })
})
