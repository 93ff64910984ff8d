// Watches: every change after a revision exactly once, in order.

import { expect, test } from "vitest"
import type { Store, StoreEvent } from "../../types.ts"
import { bytes, closing, code, put, remove, take, text } from "./shorthand.ts"

export function watches(open: () => Promise<Store>): void {
  test("delivers each change with its previous value, in order", async () => {
    const store = await open()
    await using live = closing(store.watch("/w/", { after: 1 }))
    await put(store, "/w/a", "1")
    await put(store, "/other", "1")
    await put(store, "/w/a", "2")
    await remove(store, "/w/a")
    const expected = ["put /w/a=1 2/2", "put /w/a=2 2/4 was /w/a=1 2/2", "delete /w/a=2 2/5 was /w/a=2 2/4"]
    expect(await take(live.watcher, 3)).toEqual(expected)
    await using backlog = closing(store.watch("/w/", { after: 1 }))
    expect(await take(backlog.watcher, 3)).toEqual(expected)
  })

  test("delivers changes of certain keys only, if these are all that concern it", async () => {
    const store = await open()
    const concerns = (key: string): boolean => key.endsWith("/b")
    await using live = closing(store.watch("/w/", { after: 1, concerns }))
    await put(store, "/w/a", "1")
    await put(store, "/other/b", "1")
    await put(store, "/w/b", "1")
    expect(await take(live.watcher, 1)).toEqual(["put /w/b=1 4/4"])
    expect(live.watcher.revision).toBe(4)
    await put(store, "/w/a", "2")
    expect(live.watcher.revision).toBe(5)
    await using backlog = closing(store.watch("/w/", { after: 1, concerns }))
    expect(await take(backlog.watcher, 1)).toEqual(["put /w/b=1 4/4"])
  })

  test("is not woken by changes that it excludes, and delivers all others", async () => {
    const store = await open()
    const excludes = ({ current, previous }: StoreEvent): boolean =>
      text(current.value) === "no" && previous === undefined
    await using live = closing(store.watch("/w/", { after: 1, excludes }))
    await put(store, "/w/a", "yes")
    expect(await take(live.watcher, 1)).toEqual(["put /w/a=yes 2/2"]) // it has caught up
    const others = take(live.watcher, 3)
    await put(store, "/w/b", "no")
    await put(store, "/w/c", "yes")
    await put(store, "/w/b", "yes")
    await remove(store, "/w/b")
    expect(await others).toEqual([
      "put /w/c=yes 4/4",
      "put /w/b=yes 3/5 was /w/b=no 3/3",
      "delete /w/b=yes 3/6 was /w/b=yes 3/5",
    ])
    await put(store, "/w/d", "no")
    expect(live.watcher.revision).toBe(7)
  })

  test("resumes after any revision without gaps or duplicates, also from old ones", async () => {
    const store = await open()
    const last = 60
    for (let i = 2; i <= last; i++) await put(store, `/w/${i % 7}`, "x".repeat(20_000) + i)
    for (const after of [1, 2, 30, 58, 59]) {
      const revisions: number[] = []
      for await (const events of store.watch("/w/", { after })) {
        revisions.push(...events.map((event) => event.current.modRevision))
        if (revisions.at(-1) === last) break
      }
      expect(revisions).toEqual(Array.from({ length: last - after }, (_, i) => after + 1 + i))
    }
  })

  test("switches from backlog to live events under load without gaps or duplicates", async () => {
    const store = await open()
    const total = 400
    for (let i = 0; i < 50; i++) await put(store, "/w/a", "x".repeat(10_000))
    const writing = (async () => {
      for (let i = 50; i < total; i++) await put(store, "/w/a", "x".repeat(3_000))
    })()
    const watching = [1, 5, 40].map(async (after) => {
      const revisions: number[] = []
      for await (const events of store.watch("/w/", { after })) {
        for (const { current, previous } of events) {
          expect(previous?.modRevision).toBe(current.modRevision === 2 ? undefined : current.modRevision - 1)
          revisions.push(current.modRevision)
        }
        if (revisions.at(-1) === total + 1) break
      }
      expect(revisions).toEqual(Array.from({ length: total + 1 - after }, (_, i) => after + 1 + i))
    })
    await Promise.all([writing, ...watching])
  })

  test("delivers a transaction's events in one batch, in the order of its operations", async () => {
    const store = await open()
    await put(store, "/w/a", "1")
    await store.txn({
      compare: [],
      operations: [
        { type: "put", key: "/w/z", value: bytes("1") },
        { type: "delete", key: "/w/a" },
        { type: "put", key: "/w/b", value: bytes("1") },
      ],
    })
    await using watch = closing(store.watch("/w/", { after: 2 }))
    const batch = await watch.watcher[Symbol.asyncIterator]().next()
    expect(batch.value?.map((event: StoreEvent) => event.current.key)).toEqual(["/w/z", "/w/a", "/w/b"])
  })

  test("revision advances with changes outside the prefix", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const events = take(watch.watcher, 1)
    await put(store, "/other", "1")
    expect(watch.watcher.revision).toBe(2)
    await put(store, "/w/a", "1")
    expect(await events).toEqual(["put /w/a=1 3/3"])
    expect(watch.watcher.revision).toBe(3)
  })

  test("revision does not advance beyond delivered events", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const first = take(watch.watcher, 1)
    await put(store, "/w/a", "1")
    await first
    await put(store, "/w/a", "2")
    await put(store, "/other", "1")
    expect(watch.watcher.revision).toBe(2)
    expect(await take(watch.watcher, 1)).toEqual(["put /w/a=2 2/3 was /w/a=1 2/2"])
    expect(watch.watcher.revision).toBe(4)
  })

  test("a slow consumer is ended with SlowConsumer and can resume", async () => {
    const store = await open()
    const watcher = store.watch("/w/", { after: 1, maxPending: 3 })
    const first = take(watcher, 1)
    await put(store, "/w/a", "1")
    await first
    for (let i = 0; i < 5; i++) await put(store, "/w/a", `next ${i}`)
    await expect(take(watcher, 1)).rejects.toEqual(code("SlowConsumer"))
    expect(watcher.revision).toBe(2)
    await using resumed = closing(store.watch("/w/", { after: watcher.revision, maxPending: 3 }))
    expect(await take(resumed.watcher, 5)).toHaveLength(5)
  })

  test("a slow consumer of large events gets them from the log", async () => {
    const store = await open()
    await using slow = closing(store.watch("/w/", { after: 1, maxPendingBytes: 10_000 }))
    const first = take(slow.watcher, 1)
    await put(store, "/w/a", "1")
    await first
    await put(store, "/w/a", "2")
    // Changes of others count: all watches together hold no more than these.
    for (let i = 0; i < 20; i++) await put(store, "/other", "x".repeat(1000))
    await put(store, "/w/a", "3")
    expect(slow.watcher.revision).toBe(2)
    expect(await take(slow.watcher, 2)).toEqual(["put /w/a=2 2/3 was /w/a=1 2/2", "put /w/a=3 2/24 was /w/a=2 2/3"])
    await put(store, "/w/a", "4")
    expect(await take(slow.watcher, 1)).toEqual(["put /w/a=4 2/25 was /w/a=3 2/24"])
  })

  test("fails with Compacted if the history does not reach back", async () => {
    const store = await open()
    for (let i = 0; i < 5; i++) await put(store, "/w/a", String(i))
    await store.compact(3)
    await expect(take(store.watch("/w/", { after: 3 }), 1)).rejects.toEqual(code("Compacted"))
    await expect(take(store.watch("/w/", { after: 0 }), 1)).rejects.toEqual(code("Compacted"))
    await using watch = closing(store.watch("/w/", { after: 4 }))
    expect(await take(watch.watcher, 2)).toEqual(["put /w/a=3 2/5 was /w/a=2 2/4", "put /w/a=4 2/6 was /w/a=3 2/5"])
  })

  test("a live watch is not affected by compaction", async () => {
    const store = await open()
    await using watch = closing(store.watch("/w/", { after: 1 }))
    const events = take(watch.watcher, 1)
    await put(store, "/w/a", "1")
    await events
    await store.compact(store.revision)
    await put(store, "/w/a", "2")
    expect(await take(watch.watcher, 1)).toEqual(["put /w/a=2 2/3 was /w/a=1 2/2"])
  })

  test("ends when closed, while waiting and before it is read", async () => {
    const store = await open()
    const waiting = store.watch("/w/", { after: 1 })
    const events = take(waiting, 1)
    waiting.close()
    expect(await events).toEqual([])
    const early = store.watch("/w/", { after: 1 })
    early.close()
    expect(await take(early, 1)).toEqual([])
  })
}
