// A store that was disposed of.

import { expect, test } from "vitest"
import { StorageError, type Store } from "../../types.ts"
import { code, put, take } from "./shorthand.ts"

export function disposal(open: () => Promise<Store>): void {
  test("afterwards all calls fail with Closed, and watches end with it", async () => {
    const store = await open()
    const behind = store.watch("/w/", { after: 1 })
    const live = take(store.watch("/w/", { after: 1 }), 1)
    const failed = expect(live).rejects.toEqual(code("Closed"))
    await put(store, "/a", "1")
    await store[Symbol.asyncDispose]()
    await failed
    await expect(take(behind, 1)).rejects.toEqual(code("Closed"))
    await expect(store.get("/a")).rejects.toEqual(code("Closed"))
    await expect(store.range("/")).rejects.toEqual(code("Closed"))
    await expect(put(store, "/a", "2")).rejects.toEqual(code("Closed"))
    await expect(store.compact(1)).rejects.toEqual(code("Closed"))
    expect(() => store.watch("/", { after: 1 })).toThrow(StorageError)
  })

  test("can be called twice", async () => {
    const store = await open()
    await store[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  })
}
