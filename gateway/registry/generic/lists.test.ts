// Lists of a registry: pages, selections, versions.

import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

describe("list", () => {
  async function filled(count: number, text = "") {
    const parts = openRegistry()
    for (let i = 0; i < count; i++) {
      const labels = { parity: i % 2 === 0 ? "even" : "odd" }
      await parts.create(parts.make(`c${String(i).padStart(2, "0")}`, { data: { i: String(i), text } }, { labels }))
    }
    return parts
  }
  const names = (items: readonly { object(): KubeObject }[]) => items.map((item) => item.object().metadata.name)

  test("a page of large objects is shorter than its limit, and the next one has the others", async () => {
    const { registry, ctx, create, make } = openRegistry()
    const data = { text: "x".repeat(1_000_000) }
    for (let index = 10; index < 50; index++) await create(make(`c${index}`, { data }, { namespace }))
    const first = await registry.list(ctx, { namespace, limit: 500 })
    expect(first.items.length).toBeGreaterThan(30)
    expect(first.items.length).toBeLessThan(40)
    const second = await registry.list(ctx, { namespace, limit: 500, continue: first.continue ?? "" })
    expect(first.items.length + second.items.length).toBe(40)
    expect(second.continue).toBeUndefined()
  })

  test("pages are consistent despite writes between them", async () => {
    const { registry, ctx, create, make, remove } = await filled(5)
    const first = await registry.list(ctx, { namespace, limit: 2 })
    expect(names(first.items)).toEqual(["c00", "c01"])
    expect(first.remainingItemCount).toBe(3)
    await create(make("c02b"))
    await remove("c03")
    const second = await registry.list(ctx, { namespace, limit: 2, continue: first.continue ?? "" })
    expect(names(second.items)).toEqual(["c02", "c03"])
    expect(second.remainingItemCount).toBe(1)
    expect(second.resourceVersion).toBe(first.resourceVersion)
    const third = await registry.list(ctx, { namespace, limit: 2, continue: second.continue ?? "" })
    expect(names(third.items)).toEqual(["c04"])
    expect(third.continue).toBeUndefined()
  })

  test.each([undefined, 0, -2, 1.5, 1e300, "3", null])(
    "a page after a token with %j remaining is counted",
    async (remaining) => {
      const { registry, ctx } = await filled(5)
      const { resourceVersion } = await registry.list(ctx, { namespace, limit: 1 })
      const fields = { v: "meta.k8s.io/v1", rv: Number(resourceVersion), start: "/c00\0", remaining }
      const token = Buffer.from(JSON.stringify(fields)).toString("base64url")
      const second = await registry.list(ctx, { namespace, limit: 1, continue: token })
      expect([names(second.items), second.remainingItemCount]).toEqual([["c01"], 3])
    },
  )

  test("a token that claims too few remaining items does not end the list", async () => {
    const { registry, ctx } = await filled(5)
    const { resourceVersion } = await registry.list(ctx, { namespace, limit: 1 })
    const fields = { v: "meta.k8s.io/v1", rv: Number(resourceVersion), start: "/c00\0", remaining: 1 }
    const token = Buffer.from(JSON.stringify(fields)).toString("base64url")
    const second = await registry.list(ctx, { namespace, limit: 2, continue: token })
    expect([second.remainingItemCount, second.continue]).toEqual([1, expect.any(String)])
  })

  test("selects by labels and by name, also in pages", async () => {
    const { registry, ctx } = await filled(6)
    const even = await registry.list(ctx, { namespace, labelSelector: "parity=even", limit: 2 })
    expect(names(even.items)).toEqual(["c00", "c02"])
    expect(even.remainingItemCount).toBeUndefined()
    const rest = await registry.list(ctx, {
      namespace,
      labelSelector: "parity=even",
      limit: 2,
      continue: even.continue ?? "",
    })
    expect(names(rest.items)).toEqual(["c04"])
    expect(rest.continue).toBeUndefined()
    const one = await registry.list(ctx, { namespace, fieldSelector: "metadata.name=c03" })
    expect(names(one.items)).toEqual(["c03"])
    const none = await registry.list(ctx, { namespace, fieldSelector: "metadata.name=c0" })
    expect(none.items).toEqual([])
    const others = await registry.list(ctx, { namespace, fieldSelector: "metadata.name!=c03" })
    expect(others.items).toHaveLength(5)
  })

  test("an object is parsed once for all selections by its fields", async () => {
    const { registry, ctx, stub } = await filled(9)
    // As written by others: nobody has parsed them.
    const { items, ...rest } = await stub.store.range("/registry/core/configmaps/")
    const entries = items.map((entry) => ({ ...entry, found: undefined, modRevision: 100 }))
    const range = vi.spyOn(stub.store, "range").mockImplementation(async () => ({ items: entries, ...rest }))
    const parse = vi.spyOn(JSON, "parse")
    onTestFinished(() => void [parse, range].map((spy) => spy.mockRestore()))
    for (const [fieldSelector, found, parsed] of [
      ["metadata.name!=c01", 8, 9],
      ["metadata.name!=c02,metadata.name!=c03", 7, 0],
      ["metadata.namespace!=default", 0, 0],
    ] as const) {
      parse.mockClear()
      expect((await registry.list(ctx, { fieldSelector })).items).toHaveLength(found)
      expect(parse).toHaveBeenCalledTimes(parsed)
    }
  })

  test.each([
    ["many objects", 99, "", 3],
    ["large objects", 9, "x".repeat(100_000), 7],
  ])("yields to other requests while it filters %s, also in pages", async (_, count, text, least) => {
    const { registry, ctx } = await filled(count, text)
    const fieldSelector = "metadata.name!=c01"
    for (const limit of [{}, { limit: 500 }]) {
      let pauses = 0
      const pause = (): undefined => void pauses++
      const { items } = await registry.list({ ...ctx, pause }, { namespace, fieldSelector, ...limit })
      expect(items).toHaveLength(count - 1)
      expect(pauses).toBeGreaterThanOrEqual(least)
    }
  })

  test("ends when its client disconnects", async () => {
    const { registry, ctx, stub } = await filled(99)
    const { items } = await stub.store.range("/registry/core/configmaps/")
    const range = vi.spyOn(stub.store, "range")
    range.mockImplementation(async () => ({ items, bytes: 0, revision: 1, more: range.mock.calls.length < 20 }))
    let pauses = 0
    const wait = (): undefined => void pauses++
    const leaving = {
      ...ctx,
      pause: wait,
      turn: wait,
      get isOver() {
        return pauses > 0
      },
    }
    await expect(registry.list(leaving, { namespace })).rejects.toThrow("request did not complete")
    await expect(registry.list(leaving, { namespace, limit: 100_000 })).rejects.toThrow("request did not complete")
    expect(range).toHaveBeenCalledTimes(2)
  })

  test("reads at an exact version, and rejects a future one", async () => {
    const { registry, ctx, stub, remove } = await filled(2)
    const resourceVersion = String(stub.store.revision)
    await remove("c00")
    const exact = { namespace, resourceVersion, resourceVersionMatch: "Exact" } as const
    expect(names((await registry.list(ctx, exact)).items)).toEqual(["c00", "c01"])
    expect(names((await registry.list(ctx, { namespace, resourceVersion })).items)).toEqual(["c01"])
    await expect(registry.list(ctx, { namespace, resourceVersion: "99999" })).rejects.toMatchObject({
      code: 504,
      message: expect.stringContaining("Too large resource version: 99999, current: ") as string,
    })
  })

  test("responds with a token to continue after compaction", async () => {
    const { registry, ctx, stub, create, make } = await filled(3)
    const first = await registry.list(ctx, { namespace, limit: 1 })
    await create(make("z"))
    await stub.store.compact(stub.store.revision)
    const error = await registry
      .list(ctx, { namespace, limit: 1, continue: first.continue ?? "" })
      .catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 410, reason: "Expired" })
    const token = (error as { status: { metadata: { continue: string } } }).status.metadata.continue
    const rest = await registry.list(ctx, { namespace, continue: token })
    expect(names(rest.items)).toEqual(["c01", "c02", "z"])
  })

  test("does not continue at a revision that is not there yet, as after a store was restored", async () => {
    const { registry, ctx } = await filled(3)
    const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":99999,"start":"/c00\\u0000"}').toString("base64url")
    for (const fieldSelector of ["", "metadata.name=c01"]) {
      await expect(registry.list(ctx, { namespace, continue: token, fieldSelector })).rejects.toMatchObject({
        code: 504,
        message: expect.stringContaining("Too large resource version: 99999, current: ") as string,
      })
    }
  })

  test.each([
    [
      { fieldSelector: "spec.foo=x" },
      '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [{ continue: "abc" }, "invalid continue token: continue key is not valid"],
    [{ resourceVersion: "abc" }, "invalid resource version"],
    [
      { resourceVersionMatch: "Exact" as const },
      "resourceVersionMatch is forbidden unless resourceVersion is provided",
    ],
  ])("rejects %j", async (options, message) => {
    const { registry, ctx } = openRegistry()
    await expect(registry.list(ctx, options)).rejects.toThrow(message)
  })
})
