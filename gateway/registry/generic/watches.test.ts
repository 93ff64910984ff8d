// Watches of a registry.

import { describe, expect, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import type { RegistryEvent, WatchRequest } from "../rest.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

describe("watch", () => {
  function follow(parts: ReturnType<typeof openRegistry>, request: Partial<WatchRequest> = {}) {
    const abort = new AbortController()
    const events: string[] = []
    const seen: RegistryEvent[] = []
    const waiting: { count: number; resolve: () => void }[] = []
    const check = () => {
      for (const wait of waiting) if (events.length >= wait.count) wait.resolve()
    }
    const ended = (async () => {
      const stream = parts.registry.watch(parts.ctx, { namespace, signal: abort.signal, ...request })
      for await (const batch of stream) {
        for (const event of batch) {
          seen.push(event)
          events.push(`${event.type} ${event.value.object().metadata.name ?? ""}`)
        }
        check()
      }
    })()
    return {
      seen,
      ended,
      stop: () => abort.abort(),
      until: async (count: number) => {
        const reached = new Promise<void>((resolve) => waiting.push({ count, resolve }))
        check()
        await Promise.race([reached, ended])
        return events
      },
    }
  }

  test("delivers every change after a version, in order, until it is aborted", async () => {
    const parts = openRegistry()
    const { create, make, update, remove } = parts
    const { resourceVersion } = await create(make("a"))
    await create(make("b"))
    const watch = follow(parts, { resourceVersion })
    await watch.until(1)
    await update("a", (o) => ({ ...o, data: { x: "1" } }))
    await remove("b")
    expect(await watch.until(3)).toEqual(["ADDED b", "MODIFIED a", "DELETED b"])
    const versions = watch.seen.map((event) => Number(event.value.resourceVersion))
    expect(versions).toEqual([...versions].sort((x, y) => x - y))
    watch.stop()
    await watch.ended
  })

  test.each<[string, Partial<WatchRequest>]>([
    [
      "whether a version exists yet",
      { resourceVersion: "1000", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" },
    ],
    ["where it begins", {}],
    ["what is there", { resourceVersion: "1", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" }],
    ["whether one object is there", { fieldSelector: "metadata.name=a" }],
  ])("ends with its signal also while storage does not answer %s", async (_what, request) => {
    const parts = openRegistry()
    const { store } = parts.stub
    const asked = Promise.withResolvers<void>()
    const silent = async <T>(): Promise<T> => {
      asked.resolve()
      return new Promise<T>(() => undefined)
    }
    const isRead = request.fieldSelector !== undefined || request.resourceVersion === "1"
    for (const method of isRead ? (["get", "range"] as const) : (["latest"] as const))
      vi.spyOn(store, method).mockImplementation(silent)
    const watch = follow(parts, request)
    await asked.promise
    watch.stop()
    await watch.ended
    expect(watch.seen).toEqual([])
  })

  test("starts with existing objects, followed by a bookmark if requested", async () => {
    const parts = openRegistry()
    await parts.create(parts.make("a"))
    const plain = follow(parts)
    expect(await plain.until(1)).toEqual(["ADDED a"])
    const list = follow(parts, {
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowBookmarks: true,
    })
    expect(await list.until(2)).toEqual(["ADDED a", "BOOKMARK "])
    expect(list.seen[1]?.value.object().metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" })
    plain.stop()
    list.stop()
    await Promise.all([plain.ended, list.ended])
  })

  test("delivers ADDED and DELETED when an object enters and leaves a selection", async () => {
    const parts = openRegistry()
    const { create, make, update, remove } = parts
    const watch = follow(parts, { resourceVersion: String(parts.stub.store.revision), labelSelector: "on=yes" })
    const label = (on: string) => (o: KubeObject) => ({ ...o, metadata: { ...o.metadata, labels: { on } } })
    await create(make("a"))
    await update("a", label("yes"))
    await update("a", (o) => ({ ...o, data: { x: "1" } }))
    const { value } = await update("a", label("no"))
    await remove("a")
    await create(make("b", {}, { labels: { on: "yes" } }))
    await remove("b")
    expect(await watch.until(5)).toEqual(["ADDED a", "MODIFIED a", "DELETED a", "ADDED b", "DELETED b"])
    expect(watch.seen[2]?.value.object().metadata).toMatchObject({
      labels: { on: "yes" },
      resourceVersion: value.resourceVersion,
    })
    watch.stop()
    await watch.ended
  })

  test.each([{ fieldSelector: "metadata.name!=a" }, { labelSelector: "is=chosen" }])(
    "is not woken by what %o excludes, but by what leaves and enters",
    async (selector) => {
      const parts = openRegistry()
      const { create, make, update, remove } = parts
      const { resourceVersion } = await create(make("a", {}, { labels: { is: "other" } }))
      let wakes = 0
      const turn = (): undefined => void wakes++
      const watch = follow(parts, { resourceVersion, turn, ...selector })
      await create(make("b", {}, { labels: { is: "chosen" } }))
      await watch.until(1)
      for (const x of ["1", "2", "3"]) await update("a", (o) => ({ ...o, data: { x } }))
      await remove("a")
      await update("b", (o) => ({ ...o, metadata: { ...o.metadata, labels: {} } }))
      await remove("b")
      const isLabelled = selector.labelSelector !== undefined
      expect(await watch.until(isLabelled ? 2 : 3)).toEqual(
        isLabelled ? ["ADDED b", "DELETED b"] : ["ADDED b", "MODIFIED b", "DELETED b"],
      )
      // What nobody has read yet, such as the object from before the watch, may wake it once.
      expect(wakes).toBeLessThanOrEqual(watch.seen.length + 1)
      watch.stop()
      await watch.ended
    },
  )

  test("shares events between watches", async () => {
    const parts = openRegistry()
    const resourceVersion = String(parts.stub.store.revision)
    const [one, two] = [follow(parts, { resourceVersion }), follow(parts, { resourceVersion })]
    await parts.create(parts.make("a"))
    await Promise.all([one.until(1), two.until(1)])
    expect(one.seen[0]).toBe(two.seen[0])
    one.stop()
    two.stop()
    await Promise.all([one.ended, two.ended])
  })

  test("responds with 410 for compacted versions", async () => {
    const parts = openRegistry()
    const { resourceVersion } = await parts.create(parts.make("a"))
    await parts.create(parts.make("b"))
    await parts.stub.store.compact(parts.stub.store.revision)
    await expect(follow(parts, { resourceVersion }).ended).rejects.toMatchObject({ code: 410, reason: "Expired" })
  })
})
