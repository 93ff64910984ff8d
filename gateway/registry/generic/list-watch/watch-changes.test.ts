import { AsyncLocalStorage } from "node:async_hooks"
import { setImmediate } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createMemoryStore } from "../../../../storage/memory/store.ts"
import { StorageError, type StoreEvent, type Watcher } from "../../../../storage/types.ts"
import { Edition } from "../../edition.ts"
import { tick, WatchChanges, type WatchHome } from "./watch-changes.ts"

const change = { type: "put" } as StoreEvent

/** A home whose store's watch returns these steps; `next` is its successor. */
function homeOf(steps: Promise<StoreEvent>[], after: number[], next?: WatchHome): WatchHome {
  const watcher = {
    revision: 7,
    close: () => undefined,
    [Symbol.asyncIterator]: () => ({
      next: async () => ({
        done: false as const,
        value: [await (steps.shift() ?? new Promise<never>(() => undefined))],
      }),
    }),
  } as unknown as Watcher
  const watch = (_: string, options: { after: number }): Watcher => {
    after.push(options.after)
    return watcher
  }
  return { store: { watch }, reopened: () => Promise.resolve(next) } as unknown as WatchHome
}

const { signal } = new AbortController()

test("ticks arrive while there are no events, and lose none of them", async () => {
  const happens = Promise.withResolvers<StoreEvent>()
  const home = homeOf([happens.promise], [])
  using changes = new WatchChanges({ home, prefix: "a", after: 1, withTicks: true, tickMs: 1, signal })
  expect(await changes.next()).toBe(tick)
  expect(await changes.next()).toBe(tick)
  happens.resolve(change)
  let next = await changes.next()
  while (next === tick) next = await changes.next()
  expect(next).toEqual([change])
  expect(await changes.next()).toBe(tick)
})

test("an event or failure that arrives between reads is returned by the next read", async () => {
  const failure = new StorageError("Compacted", "compacted")
  const happens = [Promise.withResolvers<StoreEvent>(), Promise.withResolvers<StoreEvent>()]
  const home = homeOf(
    happens.map(({ promise }) => promise),
    [],
  )
  using changes = new WatchChanges({ home, prefix: "a", after: 1, withTicks: true, tickMs: 1, signal })
  expect(await changes.next()).toBe(tick)
  happens[0]!.resolve(change)
  await setImmediate()
  expect(await changes.next()).toEqual([change])
  expect(await changes.next()).toBe(tick)
  happens[1]!.reject(failure)
  await setImmediate()
  await expect(changes.next()).rejects.toBe(failure)
})

test("a quiet watch waits for the next event once, regardless of the number of ticks", async () => {
  const waits = new Map<unknown, number>()
  const then = Reflect.get(Promise.prototype, "then") as (...of: unknown[]) => unknown
  // Whatever an earlier test has left running in this process is not counted.
  const ofThisTest = new AsyncLocalStorage<true>()
  const counting = function (this: unknown, ...of: unknown[]): unknown {
    if (ofThisTest.getStore() === true) waits.set(this, (waits.get(this) ?? 0) + 1)
    return Reflect.apply(then, this, of)
  }
  using changes = new WatchChanges({ home: homeOf([], []), prefix: "a", after: 1, withTicks: true, tickMs: 1, signal })
  Reflect.set(Promise.prototype, "then", counting)
  try {
    await ofThisTest.run(true, async () => {
      for (let count = 0; count < 5; count++) expect(await changes.next()).toBe(tick)
    })
  } finally {
    Reflect.set(Promise.prototype, "then", then)
  }
  expect(Math.max(...waits.values())).toBe(1)
})

test("continues with the next store after the last revision of the closed one", async () => {
  const after: number[] = []
  const closed = Promise.reject<StoreEvent>(new StorageError("Closed", "closed"))
  const second = homeOf([Promise.resolve(change)], after)
  const home = homeOf([closed], after, second)
  using changes = new WatchChanges({ home, prefix: "a", after: 1, withTicks: false, signal })
  expect(await changes.next()).toEqual([change])
  expect(after).toEqual([1, 7])
})

test("ends when there is no next store", async () => {
  const closed = Promise.reject<StoreEvent>(new StorageError("Closed", "closed"))
  using changes = new WatchChanges({ home: homeOf([closed], []), prefix: "a", after: 1, withTicks: false, signal })
  expect(await changes.next()).toBeUndefined()
})

describe("a watch that ends with an edition", () => {
  const open = (home: WatchHome, of: () => Edition, first = of()): WatchChanges =>
    new WatchChanges({ home, prefix: "a", after: 0, withTicks: true, edition: { first, of }, signal })
  const closed = (): Promise<StoreEvent> => Promise.reject(new StorageError("Closed", "closed"))

  test("ends while it waits", async () => {
    await using store = createMemoryStore()
    const edition = new Edition(1)
    const of = (): Edition => edition
    const home = { store } as WatchHome
    using changes = new WatchChanges({
      home,
      prefix: "a",
      after: store.revision,
      withTicks: true,
      edition: { first: edition, of },
      signal,
    })
    const waiting = changes.next()
    edition.end()
    expect(await waiting).toBeUndefined()
    expect(await changes.next()).toBeUndefined()
  })

  test("ends if another one has begun", async () => {
    using changes = open(
      homeOf([Promise.resolve(change)], []),
      () => new Edition({ spec: 2 }),
      new Edition({ spec: 1 }),
    )
    expect(await changes.next()).toBeUndefined()
  })

  test.each([
    ["goes on with the same edition", 1, [change]],
    ["ends if another one has begun", 2, undefined],
  ])("%s in the next store", async (_, spec, next) => {
    let current = new Edition({ spec: 1 })
    using changes = open(homeOf([closed()], [], homeOf([Promise.resolve(change)], [])), () => current)
    current = new Edition({ spec })
    expect(await changes.next()).toEqual(next)
  })
})
