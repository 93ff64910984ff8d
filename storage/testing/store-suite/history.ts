// Earlier revisions, until they are compacted.

import { expect, test, vi } from "vitest"
import type { Store } from "../../types.ts"
import { closing, code, put, remove, show, take } from "./shorthand.ts"

export function history(open: () => Promise<Store>): void {
  const filled = async (): Promise<Store> => {
    const store = await open()
    await put(store, "/h/a", "1") // 2
    await put(store, "/h/b", "1") // 3
    await put(store, "/h/a", "2") // 4
    await remove(store, "/h/b") // 5
    await put(store, "/h/c", "1") // 6
    await put(store, "/h/b", "2") // 7
    await put(store, "/h/a", "3") // 8
    return store
  }
  const states: Record<number, string[]> = {
    1: [],
    2: ["/h/a=1 2/2"],
    3: ["/h/a=1 2/2", "/h/b=1 3/3"],
    4: ["/h/a=2 2/4", "/h/b=1 3/3"],
    5: ["/h/a=2 2/4"],
    6: ["/h/a=2 2/4", "/h/c=1 6/6"],
    7: ["/h/a=2 2/4", "/h/b=2 7/7", "/h/c=1 6/6"],
    8: ["/h/a=3 2/8", "/h/b=2 7/7", "/h/c=1 6/6"],
  }
  const expectStates = async (store: Store, from: number): Promise<void> => {
    for (let revision = from; revision <= store.revision; revision++) {
      const { items, revision: at } = await store.range("/h/", { revision })
      expect(items.map(show)).toEqual(states[revision])
      expect(at).toBe(revision)
      const single = await Promise.all(["/h/a", "/h/b", "/h/c"].map((key) => store.get(key, revision)))
      expect(single.filter((kv) => kv !== undefined).map(show)).toEqual(states[revision])
      const page = await store.range("/h/", { revision, limit: 1, count: true })
      expect(page.items.map(show)).toEqual(states[revision]?.slice(0, 1))
      expect(page.remaining).toBe(Math.max(0, (states[revision]?.length ?? 0) - 1))
    }
  }

  test("get and range return the state at every earlier revision", async () => {
    await expectStates(await filled(), 1)
  })

  test("pages at one revision are consistent while others write", async () => {
    const store = await filled()
    const first = await store.range("/h/", { limit: 1 })
    await remove(store, "/h/b")
    await put(store, "/h/a0", "new")
    const rest = await store.range("/h/", { revision: first.revision, after: "/h/a" })
    expect([...first.items, ...rest.items].map(show)).toEqual(states[8])
  })

  test("compaction rejects reads at or below it, and keeps the rest", async () => {
    const store = await filled()
    await store.compact(4)
    expect(store.compactedRevision).toBe(4)
    await expect(store.get("/h/a", 4)).rejects.toEqual(code("Compacted"))
    await expect(store.range("/h/", { revision: 2 })).rejects.toEqual(code("Compacted"))
    await expectStates(store, 5)
    await store.compact(3)
    expect(store.compactedRevision).toBe(4)
    await expectStates(store, 5)
  })

  test("is kept when the system's clock is corrected", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    try {
      const store = await filled()
      vi.setSystemTime(Date.now() + 24 * 3_600_000)
      await put(store, "/h/a", "4")
      await put(store, "/h/a", "5")
      await take(store.watch("/h/", { after: 1 }), 1)
      expect((await store.get("/h/a", 2))?.modRevision).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  test("the latest revision remains readable and watchable after any compaction", async () => {
    const store = await filled()
    await store.compact(store.revision)
    expect(store.compactedRevision).toBe(7)
    await expectStates(store, 8)
    await using watcher = closing(store.watch("/h/", { after: 8 }))
    await put(store, "/h/a", "4")
    expect(await take(watcher.watcher, 1)).toEqual(["put /h/a=4 2/9 was /h/a=3 2/8"])
  })

  test("future revisions cannot be read, watched or compacted", async () => {
    const store = await filled()
    await expect(store.get("/h/a", 9)).rejects.toEqual(code("FutureRevision"))
    await expect(store.range("/h/", { revision: 9 })).rejects.toEqual(code("FutureRevision"))
    await expect(take(store.watch("/h/", { after: 9 }), 1)).rejects.toEqual(code("FutureRevision"))
    await expect(store.compact(9)).rejects.toEqual(code("FutureRevision"))
  })
}
