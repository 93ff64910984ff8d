import { describe, expect, test } from "vitest"
import { FakeClock } from "../testing/fake-clock.ts"
import { FairQueue, type FairQueueOptions } from "./fair-queue.ts"

interface Key {
  group: string
  name: string
}

const never = new AbortController().signal

function createQueue(options: Partial<FairQueueOptions<Key>> = {}): FairQueue<Key> {
  return new FairQueue<Key>({ identify: (key) => `${key.group}/${key.name}`, group: (key) => key.group, ...options })
}

const key = (group: string, name: string): Key => ({ group, name })

async function begun(queue: FairQueue<Key>): Promise<Key | undefined> {
  const taken = await queue.get(never)
  if (taken !== undefined) queue.begin(taken)
  return taken
}

async function take(queue: FairQueue<Key>): Promise<string> {
  const taken = await begun(queue)
  if (taken === undefined) throw new Error("the queue ended")
  queue.done(taken)
  return `${taken.group}/${taken.name}`
}

describe("FairQueue fairness", () => {
  test("shares picks by weight", async () => {
    const weights: Record<string, number> = { a: 1, b: 2, c: 3, d: 4 }
    const queue = createQueue({ weight: (group) => weights[group] ?? 1 })
    for (const group of Object.keys(weights)) for (let i = 0; i < 1000; i++) queue.add(key(group, String(i)))
    const picks: Record<string, number> = {}
    for (let i = 0; i < 1000; i++) {
      const group = (await take(queue)).slice(0, 1)
      picks[group] = (picks[group] ?? 0) + 1
    }
    expect(picks).toEqual({ a: 100, b: 200, c: 300, d: 400 })
  })

  test("serves a quiet group before a busy group's backlog", async () => {
    const queue = createQueue()
    for (let i = 0; i < 10_000; i++) queue.add(key("greedy", String(i)))
    queue.add(key("quiet", "only"))
    const first = [await take(queue), await take(queue), await take(queue)]
    expect(first).toContain("quiet/only")
  })

  test("keeps the order of arrival within a group", async () => {
    const queue = createQueue()
    for (let i = 0; i < 500; i++) queue.add(key("a", String(i)))
    for (let i = 0; i < 500; i++) expect(await take(queue)).toBe(`a/${i}`)
    expect(queue.sizeOf("a")).toBe(0)
  })
})

describe("FairQueue with a limit of keys in work", () => {
  let changing = 0

  test("delays only a group that has reached it", async () => {
    const queue = createQueue({ maxWorking: 2 })
    for (let i = 0; i < 5; i++) queue.add(key("a", String(i)))
    queue.add(key("b", "0"))
    const taken = [await begun(queue), await begun(queue), await begun(queue)]
    expect(taken.map((one) => one?.group).sort((a = "", b = "") => a.localeCompare(b))).toEqual(["a", "a", "b"])
    const next = begun(queue)
    queue.add(key("a", "5"))
    expect(queue.size).toBe(4)
    const first = taken.find((one) => one?.group === "a")
    queue.done(first as Key)
    expect((await next)?.group).toBe("a")
    expect(queue.size).toBe(3)
  })

  test.each([
    ["a fixed limit", 3],
    ["a limit that changes", (() => (changing = (changing + 1) % 3) + 1) as () => number],
  ])("returns every key once, in any order of take and done, with %s", async (_, maxWorking) => {
    const queue = createQueue({ maxWorking })
    const groups = ["a", "b", "c", "d"]
    for (let i = 0; i < 400; i++) queue.add(key(groups[i % 4] ?? "", String(i)))
    const working: Key[] = []
    const seen = new Set<string>()
    const waiting: Promise<Key | undefined>[] = []
    for (let seed = 7; seen.size < 400; seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) {
      if (seed % 3 === 0 && working.length > 0) queue.done(working.splice(seed % working.length, 1)[0] as Key)
      else if (waiting.length < 3) waiting.push(begun(queue))
      else if (working.length > 0) queue.done(working.shift() as Key)
      await Promise.resolve()
      for (const one of waiting.splice(0)) {
        const taken = await Promise.race([one, Promise.resolve("none" as const)])
        if (taken === "none") waiting.push(one)
        else if (taken !== undefined) {
          working.push(taken)
          seen.add(`${taken.group}/${taken.name}`)
        }
      }
      const counts = groups.map((group) => working.filter((one) => one.group === group).length)
      expect(Math.max(...counts)).toBeLessThanOrEqual(3)
    }
    expect(queue.size).toBe(0)
  })

  test("wakes all waiters when the limit is raised", async () => {
    let limit = 1
    const queue = createQueue({ maxWorking: () => limit })
    for (let i = 0; i < 9; i++) queue.add(key("a", String(i)))
    const first = await begun(queue)
    const waiting = [1, 2, 3].map(() => begun(queue))
    limit = 4
    queue.done(first as Key)
    expect((await Promise.all(waiting)).map((one) => one?.name)).toEqual(["1", "2", "3"])
    expect(queue.processing).toBe(3)
  })

  test("drops a waiting group that was removed", async () => {
    const queue = createQueue({ maxWorking: 1 })
    queue.add(key("a", "0"))
    queue.add(key("a", "1"))
    const taken = await begun(queue)
    queue.removeGroup("a")
    expect(queue.size).toBe(0)
    queue.done(taken as Key)
    queue.add(key("a", "2"))
    expect(await take(queue)).toBe("a/2")
  })
})

describe("FairQueue keys", () => {
  test("are queued at most once", async () => {
    const queue = createQueue()
    queue.add(key("a", "1"))
    queue.add(key("a", "1"))
    expect(queue.size).toBe(1)
    await take(queue)
    expect(queue.size).toBe(0)
  })

  test("are not queued again for what was added before the work on them begins, and their delays are dropped", async () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    queue.add(key("a", "1"))
    const taken = (await queue.get(never)) as Key
    queue.add(key("a", "1"))
    queue.addAfter(key("a", "1"), 500)
    queue.begin(taken)
    queue.done(taken)
    clock.advance(500)
    expect(queue.size).toBe(0)
    queue.add(key("a", "1"))
    expect(queue.size).toBe(1)
  })

  test("are queued again if added while in progress, after done()", async () => {
    const queue = createQueue()
    queue.add(key("a", "1"))
    const taken = await begun(queue)
    queue.add(key("a", "1"))
    queue.add(key("a", "1"))
    expect(queue.size).toBe(0)
    queue.done(taken!)
    expect(queue.size).toBe(1)
    expect(await take(queue)).toBe("a/1")
    expect(queue.size).toBe(0)
  })

  test("are passed to waiters", async () => {
    const queue = createQueue()
    const waiting = begun(queue)
    queue.add(key("a", "1"))
    expect(await waiting).toEqual(key("a", "1"))
  })

  test("are passed to no waiter after the signal or the queue has ended", async () => {
    const queue = createQueue()
    const controller = new AbortController()
    const aborted = queue.get(controller.signal)
    const waiting = begun(queue)
    controller.abort()
    expect(await aborted).toBeUndefined()
    queue[Symbol.dispose]()
    expect(await waiting).toBeUndefined()
    queue.add(key("a", "1"))
    expect(await begun(queue)).toBeUndefined()
  })
})

describe("FairQueue delays", () => {
  test("reject invalid times without delaying others", async () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    expect(() => queue.addAfter(key("a", "1"), Number.NaN)).toThrow("some time")
    queue.addAfter(key("b", "1"), 100)
    clock.advance(100)
    expect(await take(queue)).toBe("b/1")
  })

  test("use one timer for all keys and fire in order", async () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    for (let i = 10; i > 0; i--) queue.addAfter(key("a", String(i)), i * 100)
    expect(clock.timers).toBe(1)
    clock.advance(350)
    expect([await take(queue), await take(queue), await take(queue)]).toEqual(["a/1", "a/2", "a/3"])
    expect(queue.size).toBe(0)
    expect(queue.delayed).toBe(7)
    expect(clock.timers).toBe(1)
  })

  test.each([-3_600_000, 3_600_000])("stay the same when the system's clock is set by %i ms", (ms) => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    queue.addAfter(key("a", "1"), 100)
    clock.correct(ms)
    queue.addAfter(key("a", "2"), 300)
    clock.advance(200)
    expect([queue.size, queue.delayed]).toEqual([1, 1])
    clock.advance(100)
    expect([queue.size, queue.delayed]).toEqual([2, 0])
  })

  test("keep the earlier of two times for a key", () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    queue.addAfter(key("a", "1"), 500)
    queue.addAfter(key("a", "1"), 100)
    queue.addAfter(key("a", "1"), 900)
    clock.advance(100)
    expect(queue.size).toBe(1)
    clock.advance(10_000)
    expect(queue.size).toBe(1)
    expect(queue.delayed).toBe(0)
  })

  test("are dropped for a key that is taken earlier, and kept for a key delayed while in progress", async () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    queue.addAfter(key("a", "1"), 500)
    queue.add(key("a", "1"))
    const taken = (await begun(queue))!
    expect(queue.delayed).toBe(0)
    queue.addAfter(taken, 800)
    queue.done(taken)
    clock.advance(500)
    expect(queue.size).toBe(0)
    clock.advance(300)
    expect(queue.size).toBe(1)
  })

  test.each([
    [1, 5],
    [2, 10],
    [3, 20],
    [8, 640],
    [30, 1000],
  ])("grow with failure %i of a key to %i ms, per key", (failures, ms) => {
    const clock = new FakeClock()
    const queue = createQueue({ clock, limits: { baseDelayMs: 5, maxDelayMs: 1000 } })
    for (let i = 1; i < failures; i++) {
      queue.addRateLimited(key("a", "1"))
      clock.advance(1000)
      void begun(queue).then((taken) => queue.done(taken!))
    }
    queue.addRateLimited(key("a", "1"))
    expect(queue.retries(key("a", "1"))).toBe(failures)
    expect(queue.retries(key("a", "2"))).toBe(0)
    const before = queue.size
    clock.advance(ms - 1)
    expect(queue.size).toBe(before)
    queue.forget(key("a", "1"))
    expect(queue.retries(key("a", "1"))).toBe(0)
  })
})

describe("FairQueue groups", () => {
  test("that are refilled when a key is done queue it once", async () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => key("a", name)) as [Key, Key, Key]
    const queue = createQueue({ maxWorking: 1, limits: { keysPerGroup: 1 }, refill: () => queue.add(a) })
    queue.add(a)
    await begun(queue)
    queue.add(b)
    queue.add(c)
    const [second, third] = [begun(queue), begun(queue)]
    queue.done(a)
    expect(await second).toEqual(b)
    expect(queue.size).toBe(1)
    queue.done(b)
    expect(await third).toEqual(a)
    expect([queue.size, queue.processing]).toEqual([0, 1])
  })

  test("refuse keys beyond their limit and ask for a refill when drained", async () => {
    const refills: string[] = []
    const queue = createQueue({ limits: { keysPerGroup: 3 }, refill: (group) => refills.push(group) })
    for (let i = 0; i < 5; i++) queue.add(key("a", String(i)))
    queue.add(key("b", "0"))
    expect(queue.size).toBe(4)
    for (let i = 0; i < 4; i++) await take(queue)
    expect(refills).toEqual(["a"])
  })

  test("that are removed leave no state, and others keep their turns", async () => {
    const clock = new FakeClock()
    const queue = createQueue({ clock })
    for (const group of ["a", "b", "c"]) for (let i = 0; i < 3; i++) queue.add(key(group, String(i)))
    queue.addAfter(key("b", "late"), 10)
    queue.addRateLimited(key("b", "failing"))
    queue.removeGroup("b")
    clock.advance(1000)
    expect(queue.size).toBe(6)
    expect(queue.retries(key("b", "failing"))).toBe(0)
    const taken = []
    for (let i = 0; i < 6; i++) taken.push(await take(queue))
    expect(taken).toEqual(["a/0", "c/0", "a/1", "c/1", "a/2", "c/2"])
    queue.add(key("b", "new"))
    expect(await take(queue)).toBe("b/new")
  })
})
