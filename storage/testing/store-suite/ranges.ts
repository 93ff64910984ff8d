// Ranges: order, pages, counts.

import { expect, test } from "vitest"
import { compareKeys } from "../../key-order.ts"
import type { Store } from "../../types.ts"
import { names, put, text } from "./shorthand.ts"

export function ranges(open: () => Promise<Store>): void {
  const keys = ["/p/", "/p/a", "/p/a/b", "/p/a0", "/p/b", "/p/\u{7f}", "/p/é", "/p/\u{ffee}", "/p/\u{1f600}"]

  const filled = async (): Promise<Store> => {
    const store = await open()
    for (const key of ["/o", "/p", ...keys.toReversed(), "/q"]) await put(store, key, key)
    return store
  }

  test("returns the keys with the prefix in byte order", async () => {
    const store = await filled()
    const { items, more, revision } = await store.range("/p/")
    expect(names(items)).toEqual(keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    expect(names(items)).toEqual(keys.toSorted(compareKeys))
    expect([more, revision]).toEqual([false, store.revision])
    expect(items.every((item) => text(item.value) === item.key)).toBe(true)
  })

  test("pages with limit and after return every key once", async () => {
    const store = await filled()
    for (const limit of [1, 2, 4, 9, 10]) {
      const found: string[] = []
      for (let after: string | undefined; ;) {
        const page = await store.range("/p/", { limit, count: true, ...(after === undefined ? {} : { after }) })
        found.push(...names(page.items))
        expect(page.remaining).toBe(keys.length - found.length)
        expect(page.more).toBe(found.length < keys.length)
        if (!page.more) break
        after = found.at(-1)
      }
      expect(found).toEqual(keys)
    }
  })

  test("`after` may be a key that does not exist, before the prefix, or beyond it", async () => {
    const store = await filled()
    const after = async (key: string): Promise<number> => (await store.range("/p/", { after: key })).items.length
    expect(await after("/p/a/")).toBe(7)
    expect(await after("/a")).toBe(keys.length)
    expect(await after("/p/zzz")).toBe(4)
    expect(await after("/q")).toBe(0)
  })

  test("may end when its values have the given length, and continues at the same revision", async () => {
    const store = await open()
    const large = Array.from({ length: 40 }, (_, index) => `/large/${String(index).padStart(2, "0")}`)
    for (const key of large) await put(store, key, "x".repeat(50_000))
    const found: string[] = []
    let revision: number | undefined
    for (let after: string | undefined; ; after = found.at(-1)) {
      const options = { limit: 30, limitBytes: 200_000, ...(after === undefined ? {} : { after, revision: revision! }) }
      const page = await store.range("/large/", { ...options, count: true })
      revision ??= page.revision
      await put(store, "/large/10", "changed")
      expect(page.items.length).toBeLessThanOrEqual(30)
      found.push(...names(page.items))
      expect([page.remaining, page.more]).toEqual([large.length - found.length, found.length < large.length])
      expect(page.items.every(({ value }) => value.byteLength === 50_000)).toBe(true)
      expect(page.bytes).toBe(50_000 * page.items.length)
      if (!page.more) break
    }
    expect(found).toEqual(large)
  })

  test("an unknown prefix is empty, and limit 0 only counts", async () => {
    const store = await filled()
    expect(await store.range("/none/")).toEqual({ items: [], bytes: 0, revision: store.revision, more: false })
    const { items, more, remaining } = await store.range("/p/", { limit: 0, count: true })
    expect([items.length, more, remaining]).toEqual([0, true, keys.length])
  })

  test("many keys are returned completely", async () => {
    const store = await open()
    await Promise.all(Array.from({ length: 2500 }, (_, i) => put(store, `/many/${String(i).padStart(5, "0")}`, "x")))
    const { items } = await store.range("/many/")
    expect(items).toHaveLength(2500)
    expect(names(items)).toEqual(names(items).toSorted(compareKeys))
    expect((await store.range("/many/", { limit: 1001, count: true })).remaining).toBe(1499)
  })
}
