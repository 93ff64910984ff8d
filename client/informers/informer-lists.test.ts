// How an Informer takes a list: page by page, folding what nobody has asked for yet.

import { describe, expect, test } from "vitest"
import type { ConfigMap, KubeObject } from "../../apimachinery/object.ts"
import { resourceExpired } from "../../apimachinery/status.ts"
import { eventually } from "../../controllers/testing/harness.ts"
import { configMaps } from "../resources.ts"
import type { KubeList, ListOptions, ListWatch, Resource, WatchEvent } from "../rest.ts"
import { FakeClock } from "../testing/fake-clock.ts"
import { Informer } from "./informer.ts"

/** Large enough to be folded. */
const data = { text: "words ".repeat(1_000) }

function configMap(path: string): ConfigMap {
  const [namespace = "", name = ""] = path.split("/")
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, uid: path, resourceVersion: "1" }, data }
}

/** A server with these pages, a list of paths each. Each watch ends when a test says so. */
class Paged implements ListWatch {
  pages: readonly (readonly string[])[] = []
  readonly endWatch: ((error: Error) => void)[] = []
  #failing: { page: number; pages: readonly (readonly string[])[] } | undefined

  /** That page fails once. From then on there are others. */
  failAt(page: number, pages: readonly (readonly string[])[]): void {
    this.#failing = { page, pages }
  }

  list<T extends KubeObject>(_: Resource, options: ListOptions = {}): Promise<KubeList<T>> {
    const at = Number(options.continue ?? 0)
    if (this.#failing?.page === at) {
      this.pages = this.#failing.pages
      this.#failing = undefined
      return Promise.reject(resourceExpired())
    }
    const next = at + 1 < this.pages.length ? { continue: String(at + 1) } : {}
    const items = (this.pages[at] ?? []).map(configMap) as KubeObject[] as T[]
    return Promise.resolve({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "1", ...next }, items })
  }

  // oxlint-disable-next-line require-yield -- it has no events
  async *watch<T extends KubeObject>(): AsyncGenerator<WatchEvent<T>> {
    const { promise, reject } = Promise.withResolvers<never>()
    this.endWatch.push(reject)
    await promise
  }
}

interface Started {
  server: Paged
  informer: Informer<ConfigMap>
  events: string[]
  /** Ends the watch, so that these pages are listed. */
  relist: (pages: readonly (readonly string[])[]) => Promise<void>
}

async function start(pages: readonly (readonly string[])[], foldsLists = true): Promise<Started> {
  const [server, clock] = [new Paged(), new FakeClock()]
  server.pages = pages
  const informer = new Informer<ConfigMap>(server, configMaps, { foldsLists, clock })
  const events: string[] = []
  const told = (what: string) => (object: ConfigMap) => void events.push(`${what} ${object.metadata.uid}`)
  informer.subscribe({ added: told("+"), updated: told("~"), deleted: told("-") })
  const watches = async (count: number): Promise<void> =>
    eventually(() => {
      clock.advance(1_000)
      expect(server.endWatch).toHaveLength(count)
    })
  void informer.start(new AbortController().signal)
  await watches(1)
  return {
    server,
    informer,
    events,
    relist: async (next) => {
      server.pages = next
      const { length } = server.endWatch
      server.endWatch.at(-1)?.(resourceExpired())
      await watches(length + 1)
    },
  }
}

describe("a list in pages", () => {
  test("that failed between them begins anew: what is not in it is gone, even if it was delivered before", async () => {
    const { informer, events, server, relist } = await start([["a/1"]])
    server.failAt(1, [["b/1"]])
    await relist([["a/1", "a/2"], ["b/1"]])
    expect(events).toEqual(["+ a/1", "+ a/2", "+ b/1", "- a/1", "- a/2"])
    expect(informer.list().map(({ metadata }) => metadata.uid)).toEqual(["b/1"])
  })
})

describe("an Informer that folds lists", () => {
  const all = [
    ["a-b/1", "a/1", "a/2", "b/1"],
    ["b/2", "c/1"],
  ]

  test("folds each namespace, and says all objects all the same", async () => {
    const { informer, events } = await start(all)
    expect(events).toEqual(["+ a-b/1", "+ a/1", "+ a/2", "+ b/1", "+ b/2", "+ c/1"])
    expect(informer.folded).toEqual(["a-b", "a", "b", "c"])
    expect(informer.list("b")).toEqual(["b/1", "b/2"].map(configMap))
  })

  test("does not if it is not told to", async () => {
    const { informer } = await start(all, false)
    expect(informer.folded).toEqual([])
  })

  test("leaves unfolded what was in use before a list, and finds what is gone in the rest", async () => {
    const { informer, events, relist } = await start(all)
    informer.get("b", "1")
    events.length = 0
    await relist([
      ["a/1", "b/1"],
      ["b/2", "c/1", "d/1"],
    ])
    expect(events).toEqual(["+ d/1", "- a-b/1", "- a/2"])
    expect(informer.folded).toEqual(["a", "c", "d"])
  })

  test("folds what an attempt that failed has delivered when it is delivered again", async () => {
    const { informer, server, relist } = await start([["z/1"]])
    server.failAt(1, [["a/1", "b/1"]])
    await relist([["a/1", "b/1"], ["c/1"]])
    expect(informer.folded).toEqual(["a", "b"])
  })

  test("folds nothing of a server that does not list by namespace", async () => {
    const { informer } = await start([["b/1", "a/1", "b/2", "a/2", "b/3"]])
    expect(informer.folded).toEqual([])
    expect(informer.size).toBe(5)
  })
})
