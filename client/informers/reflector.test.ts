import { describe, expect, test } from "vitest"
import { resourceExpired } from "../../apimachinery/status.ts"
import type { ConfigMap, KubeObject } from "../../apimachinery/object.ts"
import { FakeCluster } from "../testing/fake-cluster.ts"
import { eventually } from "../../controllers/testing/harness.ts"
import { Informer, type InformerOptions } from "./informer.ts"
import { configMaps } from "../resources.ts"
import type { ListOptions, Resource, WatchEvent, WatchOptions } from "../rest.ts"
import type { TenantWatchHandler } from "../tenants.ts"
import { singleCluster } from "../single-cluster.ts"
import { TenantInformer } from "./tenant-informer.ts"
import { FakeClock } from "../testing/fake-clock.ts"

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data }
}

/** A cluster whose watches a test can break. */
class BreakableCluster extends FakeCluster {
  readonly breaks: ((error?: Error) => void)[] = []

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    const stop = new AbortController()
    let failure: Error | undefined
    this.breaks.push((error) => {
      failure = error
      stop.abort()
    })
    const signal = AbortSignal.any([options.signal, stop.signal])
    for await (const event of super.watch<T>(resource, { ...options, signal })) yield event
    if (failure !== undefined) throw failure
  }
}

interface Recorded {
  events: string[]
  handler: {
    added(object: KubeObject): void
    updated(object: KubeObject): void
    deleted(object: KubeObject): void
  }
}

function recorder(): Recorded {
  const events: string[] = []
  const record = (what: string) => (object: KubeObject) => void events.push(`${what} ${object.metadata.name}`)
  return { events, handler: { added: record("+"), updated: record("~"), deleted: record("-") } }
}

/** An informer that has listed; `breakWatch` ends its first watch. */
async function startBreakable(
  cluster: BreakableCluster,
  clock: FakeClock,
  options: InformerOptions<ConfigMap> = {},
): Promise<Disposable & { events: string[]; breakWatch(error?: Error): void }> {
  const stop = new AbortController()
  const informer = new Informer<ConfigMap>(cluster, configMaps, { ...options, clock })
  const { events, handler } = recorder()
  informer.subscribe(handler)
  await informer.start(stop.signal)
  await eventually(() => expect(cluster.breaks).toHaveLength(1))
  return { events, breakWatch: (error) => cluster.breaks[0]!(error), [Symbol.dispose]: () => stop.abort() }
}

describe("an Informer", () => {
  test("has the listed objects, follows changes, and replays them to late subscribers", async () => {
    const cluster = new FakeCluster()
    await cluster.create(configMaps, configMap("a", { team: "x" }))
    const stop = new AbortController()
    const indexes = { team: (object: ConfigMap) => Object.values(object.data ?? {}) }
    const informer = new Informer<ConfigMap>(cluster, configMaps, { indexes })
    const { events, handler } = recorder()
    informer.subscribe(handler)
    expect(informer.synced).toBe(false)
    await informer.start(stop.signal)
    expect(informer.synced).toBe(true)
    await cluster.create(configMaps, configMap("b", { team: "x" }))
    await cluster.patch(configMaps, "default", "a", { data: { team: "y" } }, { type: "merge" })
    await cluster.delete(configMaps, "default", "b")
    await eventually(() => expect(events).toEqual(["+ a", "+ b", "~ a", "- b"]))
    expect(informer.byIndex("team", "x")).toEqual([])
    expect(informer.byIndex("team", "y")).toEqual([informer.get("default", "a")])
    expect(informer.list("elsewhere")).toEqual([])
    const late = recorder()
    informer.subscribe(late.handler)
    expect(late.events).toEqual(["+ a"])
    stop.abort()
  })

  test.each<[what: string, change: (cluster: FakeCluster) => unknown, event: string]>([
    ["a creation", (cluster) => cluster.create(configMaps, configMap("b")), "+ b"],
    // As of pods that end: the last event before a break is often that of an object that is gone after it.
    ["the deletion of what changed last", (cluster) => cluster.remove(configMaps, "default", "a"), "- a"],
  ])("resumes a watch that ended without a new list, and sees %s in between", async (_, change, event) => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    using informer = await startBreakable(cluster, clock)
    await cluster.create(configMaps, configMap("a"))
    await eventually(() => expect(informer.events).toEqual(["+ a"]))
    informer.breakWatch()
    await change(cluster)
    await eventually(() => {
      clock.advance(1000)
      expect(informer.events).toEqual(["+ a", event])
    })
    // The second one has only asked for the server's revision.
    expect(cluster.calls.get("list configmaps")).toBe(2)
  })

  test("relists when the server has gone back to an earlier revision", async () => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    const restored = new FakeCluster({ clock })
    for (const name of ["a", "b", "c"]) await cluster.create(configMaps, configMap(name))
    using informer = await startBreakable(cluster, clock)
    cluster.list = (...args) => restored.list(...args)
    cluster.watch = (...args) => restored.watch(...args)
    await restored.create(configMaps, configMap("d"))
    informer.breakWatch()
    await eventually(() => {
      clock.advance(1000)
      expect(informer.events).toEqual(["+ a", "+ b", "+ c", "+ d", "- a", "- b", "- c"])
    })
    await restored.create(configMaps, configMap("e"))
    await eventually(() => expect(informer.events.at(-1)).toBe("+ e"))
  })

  test("relists when the server was away for so long that it may have gone back and on again", async () => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    const restored = new FakeCluster({ clock })
    await cluster.create(configMaps, configMap("a"))
    using informer = await startBreakable(cluster, clock)
    let attempts = 0
    cluster.list = () => {
      attempts++
      return Promise.reject(new Error("connection refused"))
    }
    informer.breakWatch(new Error("connection reset"))
    await eventually(() => {
      clock.advance(60_000)
      expect(attempts).toBeGreaterThan(2)
    })
    for (const name of ["b", "c"]) await restored.create(configMaps, configMap(name))
    cluster.list = (...args) => restored.list(...args)
    cluster.watch = (...args) => restored.watch(...args)
    await eventually(() => {
      clock.advance(60_000)
      expect(informer.events).toEqual(["+ a", "+ b", "+ c", "- a"])
    })
  })

  test("does not relist because the server was away before its first list", async () => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    const stop = new AbortController()
    const list = cluster.list.bind(cluster)
    const limits: (number | undefined)[] = []
    cluster.list = (resource, options) => {
      limits.push(options?.limit)
      return limits.length === 1 ? Promise.reject(new Error("connection refused")) : list(resource, options)
    }
    void new Informer<ConfigMap>(cluster, configMaps, { clock }).start(stop.signal)
    const watches = (count: number): Promise<void> =>
      eventually(() => {
        clock.advance(1_000)
        expect(cluster.breaks).toHaveLength(count)
      })
    await watches(1)
    clock.advance(120_000)
    cluster.breaks[0]?.()
    await watches(2)
    expect(limits.slice(2)).toEqual([1])
    stop.abort()
  })

  test("asks for the revision of a server with any object, whatever it selects", async () => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    const asked: (ListOptions | undefined)[] = []
    const list = cluster.list.bind(cluster)
    cluster.list = (resource, options) => {
      asked.push(options)
      return list(resource, options)
    }
    const options = { labelSelector: "a=b", fieldSelector: "metadata.name=c", namespace: "default" }
    using informer = await startBreakable(cluster, clock, options)
    informer.breakWatch()
    await eventually(() => {
      clock.advance(1000)
      expect(cluster.breaks).toHaveLength(2)
    })
    const { labelSelector, ...place } = options
    expect(asked).toMatchObject([
      { ...place, labelSelector },
      { ...place, limit: 1, metadataOnly: true },
    ])
    expect(asked[1]).not.toHaveProperty("labelSelector")
  })

  test("relists when its resourceVersion has expired, and reports deletions in between", async () => {
    const clock = new FakeClock()
    const cluster = new BreakableCluster({ clock })
    await cluster.create(configMaps, configMap("a"))
    await cluster.create(configMaps, configMap("b"))
    using informer = await startBreakable(cluster, clock)
    informer.breakWatch(resourceExpired())
    await cluster.delete(configMaps, "default", "a")
    await cluster.create(configMaps, configMap("c"))
    await eventually(() => {
      clock.advance(1000)
      expect([...informer.events].sort((x, y) => (x < y ? -1 : 1))).toEqual(["+ a", "+ b", "+ c", "- a"])
    })
    expect(cluster.calls.get("list configmaps")).toBe(2)
  })
})

describe("a TenantInformer over one cluster", () => {
  test("separates tenants and reports when it is synced", async () => {
    const cluster = new FakeCluster()
    await cluster.create(configMaps, configMap("a"))
    const stop = new AbortController()
    const informer = new TenantInformer<ConfigMap>(singleCluster(cluster, "one"), configMaps)
    const seen: string[] = []
    informer.subscribe({
      added: (tenant, object) => seen.push(`${tenant} + ${object.metadata.name}`),
      synced: (tenant) => seen.push(`${tenant} synced`),
    })
    informer.start(stop.signal)
    await expect.poll(() => seen).toEqual(["one + a", "one synced"])
    expect(informer.isSynced("one")).toBe(true)
    expect(informer.get("one", "default", "a")).toBeDefined()
    expect(informer.get("two", "default", "a")).toBeUndefined()
    stop.abort()
  })

  test("drops objects that a restarted stream no longer delivers, and removed tenants without events", () => {
    let handler: {
      event(e: object): void
      synced(t: string): void
      removed(t: string): void
      restarted(t: string): void
    }
    const tenants = {
      ...singleCluster(new FakeCluster()),
      watch: (_resource: unknown, given: unknown) => void (handler = given as typeof handler),
    }
    const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
    const seen: string[] = []
    informer.subscribe({
      added: (_tenant, object) => seen.push(`+ ${object.metadata.name}`),
      deleted: (_tenant, object) => seen.push(`- ${object.metadata.name}`),
      removed: (tenant) => seen.push(`removed ${tenant}`),
    })
    informer.start(new AbortController().signal)
    const add = (name: string): void => handler.event({ tenant: "t", type: "ADDED", object: configMap(name) })
    add("a")
    add("b")
    handler!.synced("t")
    handler!.restarted("t")
    add("b")
    add("c")
    handler!.synced("t")
    handler!.restarted("asleep")
    expect(informer.tenants()).toEqual(["t"])
    handler!.removed("t")
    expect(seen).toEqual(["+ a", "+ b", "+ c", "- a", "removed t"])
    expect(informer.list("t")).toEqual([])
    expect(informer.isSynced("t")).toBe(false)
  })

  test.each(["removed", "asleep"] as const)(
    "says which objects are forgotten: deleted ones, and all of a tenant %s",
    (end) => {
      let handler: TenantWatchHandler<ConfigMap> | undefined
      const tenants = {
        ...singleCluster(new FakeCluster()),
        watch: (_resource: unknown, given: unknown) => void (handler = given as typeof handler),
      }
      const informer = new TenantInformer<ConfigMap>(tenants, configMaps)
      const forgotten: unknown[] = []
      informer.subscribe({ forgotten: ({ metadata }) => forgotten.push(metadata.name) })
      informer.start(new AbortController().signal)
      for (const name of ["a", "b"]) handler?.event({ tenant: "t", type: "ADDED", object: configMap(name) })
      handler?.event({ tenant: "other", type: "ADDED", object: configMap("c") })
      handler?.event({ tenant: "t", type: "DELETED", object: configMap("a") })
      expect(forgotten).toEqual(["a"])
      handler?.[end]?.("t")
      expect(forgotten).toEqual(["a", "b"])
    },
  )
})
