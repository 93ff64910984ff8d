import { expect, test } from "vitest"
import { StorageError, type StoreEvent, type Watcher } from "../../storage/types.ts"
import { tick, WatchChanges, type WatchHome } from "./watch-changes.ts"

const change = { type: "put" } as StoreEvent

/** What one store's watch answers, step by step; what comes after a change in another store. */
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

test("ticks come while nothing happens, and take nothing of what happens then", async () => {
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

test("goes on with the next store where the last one ended", async () => {
  const after: number[] = []
  const closed = Promise.reject<StoreEvent>(new StorageError("Closed", "closed"))
  const second = homeOf([Promise.resolve(change)], after)
  const home = homeOf([closed], after, second)
  using changes = new WatchChanges({ home, prefix: "a", after: 1, withTicks: false, signal })
  expect(await changes.next()).toEqual([change])
  expect(after).toEqual([1, 7])
})

test("is over when there is no next store", async () => {
  const closed = Promise.reject<StoreEvent>(new StorageError("Closed", "closed"))
  using changes = new WatchChanges({ home: homeOf([closed], []), prefix: "a", after: 1, withTicks: false, signal })
  expect(await changes.next()).toBeUndefined()
})
