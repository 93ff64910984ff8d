import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { defaultLimits } from "../limits.ts"
import type { StoreEvent } from "../types.ts"
import { type CommitTarget, GroupCommit } from "./group-commit.ts"

/** Keeps nothing, and notes how many changes each group had. A flush takes some turns of the event loop. */
class Flushes implements CommitTarget {
  readonly groups: number[] = []
  #revision = 1

  ready(): undefined {
    return undefined
  }

  revision(): number {
    return this.#revision
  }

  read(): undefined {
    return undefined
  }

  quota(): undefined {
    return undefined
  }

  async commit(events: readonly StoreEvent[], revision: number): Promise<void> {
    await turns(5)
    this.groups.push(events.length)
    this.#revision = revision
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

async function put(commit: GroupCommit, key: string): Promise<void> {
  await commit.submit({ compare: [], operations: [{ type: "put", key, value: Buffer.from("x") }] })
}

/** Writers that write one after the other, and come back after times of their own, until `groups` have been flushed. */
async function writing(commit: GroupCommit, flushes: Flushes, writers: number, groups: number): Promise<void> {
  const write = async (name: number): Promise<void> => {
    for (let count = 0; flushes.groups.length < groups; count++) {
      await put(commit, `/${name}/${count}`)
      await turns(1 + name)
    }
  }
  let isOver = false
  const written = Promise.all(Array.from({ length: writers }, (_, name) => write(name))).then(() => (isOver = true))
  while (flushes.groups.length < groups) await turns(1)
  // The last ones wait for those who have stopped.
  for (; !isOver; await turns(1)) vi.advanceTimersByTime(1)
  await written
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})

afterEach(() => {
  vi.useRealTimers()
})

test("writers that come back together share their groups", async () => {
  const flushes = new Flushes()
  const commit = new GroupCommit(flushes, defaultLimits)
  await writing(commit, flushes, 4, 20)
  expect(flushes.groups.slice(4, 20)).toEqual(Array.from({ length: 16 }, () => 4))
})

test("a writer alone waits for nobody", async () => {
  const flushes = new Flushes()
  await writing(new GroupCommit(flushes, defaultLimits), flushes, 1, 10)
  expect(flushes.groups).toEqual(Array.from({ length: 10 }, () => 1))
  expect(vi.getTimerCount()).toBe(0)
})

test("those who stay away are waited for in no more than two groups", async () => {
  const flushes = new Flushes()
  const commit = new GroupCommit(flushes, defaultLimits)
  await writing(commit, flushes, 3, 10)
  let waited = 0
  for (let count = 0; count < 5; count++) {
    const written = put(commit, `/alone/${count}`)
    await turns(10)
    waited += vi.getTimerCount()
    vi.advanceTimersByTime(1)
    await written
  }
  expect(waited).toBeGreaterThan(0)
  expect(waited).toBeLessThanOrEqual(2)
})

test("closing while a group waits for writers ends at once for those who wait", async () => {
  const flushes = new Flushes()
  const commit = new GroupCommit(flushes, defaultLimits)
  await writing(commit, flushes, 3, 10)
  const before = flushes.groups.length
  const written = expect(put(commit, "/late")).rejects.toMatchObject({ code: "Closed" })
  await turns(1)
  expect(vi.getTimerCount()).toBe(1)
  const closed = commit.close()
  await written
  vi.advanceTimersByTime(1)
  await closed
  expect(flushes.groups).toHaveLength(before)
})
