import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { createMemoryStore } from "../memory/store.ts"
import { Wakes } from "./wakes.ts"

test("a few are woken at once, and many in batches, in order of arrival", async () => {
  const wakes = new Wakes()
  const woken: number[] = []
  for (let index = 0; index < 100; index++) wakes.add({ wake: () => void woken.push(index) })
  const after: number[] = [woken.length]
  while (wakes.waiting > 0) {
    await nextTurn()
    after.push(woken.length)
  }
  expect(after[0]).toBe(32)
  for (const [index, count] of after.entries()) expect(count - (after[index - 1] ?? 0)).toBeLessThanOrEqual(32)
  expect(woken).toEqual(Array.from({ length: 100 }, (_, index) => index))
})

test("later arrivals do not overtake those that wait", async () => {
  const wakes = new Wakes()
  const woken: string[] = []
  for (let index = 0; index < 40; index++) wakes.add({ wake: () => void woken.push("early") })
  await nextTurn()
  wakes.add({ wake: () => void woken.push("late") })
  while (wakes.waiting > 0) await nextTurn()
  expect(woken).toHaveLength(41)
  expect(woken.at(-1)).toBe("late")
})

const watches = 200

test("patient watches get each change once and in order, and other watches before the write returns", async () => {
  await using store = createMemoryStore()
  const seen = Array.from({ length: watches }, (): number[] => [])
  const watchers = seen.map((revisions) => {
    const watcher = store.watch("/a/", { after: store.revision, patient: true })
    const done = (async () => {
      for await (const events of watcher) revisions.push(...events.map(({ current }) => current.modRevision))
    })()
    return { watcher, done }
  })
  let atOnce = 0
  const impatient = store.watch("/a/", { after: store.revision })
  const counting = (async () => {
    for await (const events of impatient) atOnce += events.length
  })()
  await nextTurn()
  const written: number[] = []
  for (let index = 0; index < 50; index++) {
    const { revision } = await store.txn({
      compare: [],
      operations: [{ type: "put", key: `/a/${index}`, value: Buffer.from("x") }],
    })
    written.push(revision)
  }
  await Promise.resolve()
  expect(atOnce).toBe(written.length)
  await expect.poll(() => seen.every(({ length }) => length === written.length), { timeout: 30_000 }).toBe(true)
  for (const revisions of seen) expect(revisions).toEqual(written)
  impatient.close()
  for (const { watcher } of watchers) watcher.close()
  await Promise.all([counting, ...watchers.map(({ done }) => done)])
})

test("undelivered events of a patient watch are delivered before the store closes, or can be resumed", async () => {
  const store = createMemoryStore()
  const watchers = Array.from({ length: watches }, () => store.watch("/a/", { after: store.revision, patient: true }))
  const told = watchers.map(async (watcher) => {
    let events = 0
    try {
      for await (const some of watcher) events += some.length
    } catch {
      // The store is closed.
    }
    return { events, revision: watcher.revision }
  })
  await nextTurn()
  const before = store.revision
  const { revision } = await store.txn({
    compare: [],
    operations: [{ type: "put", key: "/a/1", value: Buffer.from("x") }],
  })
  await store[Symbol.asyncDispose]()
  for (const { events, revision: reached } of await Promise.all(told)) {
    expect(events === 1 ? revision : before).toBe(reached)
  }
})
