// A store on a base layer (types.ts).

import { expect, test } from "vitest"
import { createBaseLayer } from "../base-layer.ts"
import type { BaseLayer, Store } from "../../types.ts"
import { bytes, names, put, remove, show, take } from "./shorthand.ts"

export function baseLayer(open: (options: { base: BaseLayer }) => Promise<Store>): void {
  const base = createBaseLayer([
    ["/b/3", bytes("three")],
    ["/b/1", bytes("one")],
    ["/b/5", bytes("five")],
  ])
  const list = async (store: Store, revision?: number): Promise<(string | undefined)[]> =>
    (await store.range("/b/", revision === undefined ? {} : { revision })).items.map(show)

  test("its keys have revision 1 and are merged in byte order", async () => {
    const store = await open({ base })
    await put(store, "/b/2", "two")
    await put(store, "/b/6", "six")
    expect(show(await store.get("/b/1"))).toBe("/b/1=one 1/1")
    expect(await list(store)).toEqual([
      "/b/1=one 1/1",
      "/b/2=two 2/2",
      "/b/3=three 1/1",
      "/b/5=five 1/1",
      "/b/6=six 3/3",
    ])
    const page = await store.range("/b/", { limit: 2, after: "/b/1", count: true })
    expect([...names(page.items), page.remaining]).toEqual(["/b/2", "/b/3", 2])
    expect(page.bytes).toBe("two".length)
  })

  test("its keys are compared with modRevision 1, and can be overwritten, deleted and recreated", async () => {
    const store = await open({ base })
    const update = await store.txn({
      compare: [{ key: "/b/1", modRevision: 1 }],
      operations: [{ type: "put", key: "/b/1", value: bytes("uno") }],
    })
    expect(update).toEqual({ succeeded: true, revision: 2 })
    const create = await store.txn({
      compare: [{ key: "/b/3", modRevision: 0 }],
      operations: [{ type: "put", key: "/b/3", value: bytes("tres") }],
    })
    expect(create.succeeded ? [] : create.current.map(show)).toEqual(["/b/3=three 1/1"])
    await remove(store, "/b/3")
    expect(await list(store)).toEqual(["/b/1=uno 1/2", "/b/5=five 1/1"])
    expect((await store.range("/b/", { limit: 1, count: true })).remaining).toBe(1)
    await remove(store, "/b/1")
    expect(await store.get("/b/1")).toBeUndefined()
    await put(store, "/b/3", "again")
    expect(await list(store)).toEqual(["/b/3=again 5/5", "/b/5=five 1/1"])
  })

  test("its keys are the previous state in history and watches", async () => {
    const store = await open({ base })
    await put(store, "/b/1", "uno")
    await remove(store, "/b/3")
    await put(store, "/b/3", "again")
    await remove(store, "/b/1")
    expect(await list(store, 1)).toEqual(["/b/1=one 1/1", "/b/3=three 1/1", "/b/5=five 1/1"])
    expect(await list(store, 3)).toEqual(["/b/1=uno 1/2", "/b/5=five 1/1"])
    expect(show(await store.get("/b/3", 2))).toBe("/b/3=three 1/1")
    expect(await store.get("/b/3", 3)).toBeUndefined()
    const watcher = store.watch("/b/", { after: 1 })
    expect(await take(watcher, 4)).toEqual([
      "put /b/1=uno 1/2 was /b/1=one 1/1",
      "delete /b/3=three 1/3 was /b/3=three 1/1",
      "put /b/3=again 4/4",
      "delete /b/1=uno 1/5 was /b/1=uno 1/2",
    ])
    watcher.close()
  })

  test("compaction keeps its deleted keys deleted and its untouched keys visible", async () => {
    const store = await open({ base })
    await remove(store, "/b/3")
    await put(store, "/b/1", "uno")
    await put(store, "/b/1", "eins")
    await store.compact(store.revision)
    expect(await list(store)).toEqual(["/b/1=eins 1/4", "/b/5=five 1/1"])
    expect(await store.get("/b/3")).toBeUndefined()
  })
}
