import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { FairPlaces } from "../../apimachinery/fair-places.ts"
import { silentLog } from "../../client/log.ts"
import type { Resource } from "../../client/rest.ts"
import { configMaps, customResourceDefinitions, secrets } from "../../client/resources.ts"
import { startCustomResources } from "../custom-resources/handler.ts"
import { createControlPlaneStub, type ControlPlaneStub } from "../testing/control-plane-stub.ts"
import { Subscriptions } from "./subscriptions.ts"
import { TenantFeed } from "./tenant-feed.ts"

const widgets: Resource = { group: "example.com", version: "v1", resource: "widgets", namespaced: true }

let controlPlane: ControlPlaneStub
let subscriptions: Subscriptions
let feed: TenantFeed
let running: Promise<void>
let ended: AbortController

beforeEach(() => {
  controlPlane = createControlPlaneStub()
  subscriptions = new Subscriptions()
  ended = new AbortController()
})

afterEach(async () => {
  ended.abort()
  await running
  await controlPlane[Symbol.asyncDispose]()
})

function start(settled?: number): void {
  feed = new TenantFeed({
    tenant: "demo",
    controlPlane,
    settled,
    subscriptions,
    signal: ended.signal,
    opening: new FairPlaces({ all: 1 }),
    log: silentLog,
  })
  running = feed.run()
}

/** The notifications of a subscriber, as lines. */
function follow(resource: Resource, mentioning?: readonly string[]): { lines: string[]; stop(): void } {
  const lines: string[] = []
  const stopping = new AbortController()
  const subscription = subscriptions.add(
    resource,
    {
      event: (_, type, value) => lines.push(`${type} ${value.object().metadata.name}`),
      synced: () => lines.push("synced"),
      restarted: () => lines.push("restarted"),
      removed: () => lines.push("removed"),
      asleep: () => lines.push("asleep"),
    },
    stopping.signal,
    mentioning,
  )
  return {
    lines,
    stop() {
      stopping.abort()
      subscriptions.delete(subscription)
    },
  }
}

const put = (resource: Resource, kind: string, name: string, more: object = {}) =>
  controlPlane.client.create(resource, {
    apiVersion: resource.group === "" ? "v1" : `${resource.group}/${resource.version}`,
    kind,
    metadata: { namespace: "default", name, ...more },
  })
const putConfigMap = (name: string, more: object = {}) => put(configMaps, "ConfigMap", name, more)
const eventually = (lines: readonly string[], expected: readonly string[]) => expect.poll(() => lines).toEqual(expected)

describe("a tenant's feed", () => {
  test("delivers existing objects, then every change once", async () => {
    await putConfigMap("before")
    const followed = follow(configMaps)
    start()
    await eventually(followed.lines, ["ADDED before", "synced"])
    await putConfigMap("after")
    await controlPlane.client.patch(configMaps, "default", "before", { data: { a: "b" } }, { type: "merge" })
    await controlPlane.client.delete(configMaps, "default", "before")
    await eventually(followed.lines, ["ADDED before", "synced", "ADDED after", "MODIFIED before", "DELETED before"])
  })

  test("scans once, regardless of the number of subscribers", async () => {
    await putConfigMap("one")
    await put(secrets, "Secret", "two")
    const many = Array.from({ length: 10 }, () => follow(configMaps))
    const other = follow(secrets)
    start()
    for (const { lines } of many) await eventually(lines, ["ADDED one", "synced"])
    await eventually(other.lines, ["ADDED two", "synced"])
  })

  test("delivers existing objects to a later subscriber without gaps or repetitions", async () => {
    const first = follow(configMaps)
    start()
    await eventually(first.lines, ["synced"])
    const names = Array.from({ length: 20 }, (_, index) => `c${index}`)
    const writing = Promise.all(names.map((name) => putConfigMap(name)))
    const second = follow(configMaps)
    feed.wake()
    await writing
    for (const { lines } of [first, second]) {
      await expect.poll(() => lines.filter((line) => line !== "synced")).toHaveLength(names.length)
      expect(new Set(lines)).toEqual(new Set(["synced", ...names.map((name) => `ADDED ${name}`)]))
    }
  })

  test("delivers nothing to a subscriber that has stopped", async () => {
    const [stays, goes] = [follow(configMaps), follow(configMaps)]
    start()
    await eventually(goes.lines, ["synced"])
    goes.stop()
    await putConfigMap("later")
    await eventually(stays.lines, ["synced", "ADDED later"])
    expect(goes.lines).toEqual(["synced"])
  })

  test("leaves out objects without the requested words, and reports when they are removed from an object", async () => {
    const owners = { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "plain", uid: "1" }] }
    await putConfigMap("plain")
    await putConfigMap("owned", owners)
    const followed = follow(configMaps, [`"ownerReferences"`])
    start()
    await eventually(followed.lines, ["ADDED owned", "synced"])
    await controlPlane.client.patch(configMaps, "default", "plain", { data: { a: "b" } }, { type: "merge" })
    const none = { metadata: { ownerReferences: null } }
    await controlPlane.client.patch(configMaps, "default", "owned", none, { type: "merge" })
    await controlPlane.client.delete(configMaps, "default", "plain")
    await eventually(followed.lines, ["ADDED owned", "synced", "MODIFIED owned", "DELETED plain"])
  })

  test("restarts after compaction", async () => {
    await putConfigMap("kept")
    await putConfigMap("lost")
    const followed = follow(configMaps)
    const { store } = controlPlane
    const watch = store.watch.bind(store)
    // Simulates many writes between the first scan and its watch: the history in between has been removed.
    vi.spyOn(store, "watch").mockImplementationOnce((prefix, options) => watch(prefix, { ...options, after: 1 }))
    await store.compact(store.revision)
    start()
    await eventually(followed.lines, [
      "ADDED kept",
      "ADDED lost",
      "synced",
      "restarted",
      "ADDED kept",
      "ADDED lost",
      "synced",
    ])
  })

  test("reports a resource that is not served as empty, and follows it as soon as it is served", async () => {
    const { store, resources } = controlPlane
    await using _definitions = await startCustomResources({
      store,
      table: resources,
      client: () => controlPlane.client,
    })
    const followed = follow(widgets)
    start()
    await eventually(followed.lines, ["synced"])
    await controlPlane.client.create(customResourceDefinitions, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    } as never)
    await put(widgets, "Widget", "w")
    await expect.poll(() => followed.lines).toContain("ADDED w")
    expect(followed.lines.filter((line) => line.startsWith("ADDED"))).toEqual(["ADDED w"])
  })

  test("of a settled tenant delivers nothing before a change", async () => {
    await putConfigMap("old")
    const followed = follow(configMaps)
    start(controlPlane.store.revision)
    await new Promise((resolve) => setImmediate(resolve))
    expect(followed.lines).toEqual([])
    expect(feed.settledAt).toBe(controlPlane.store.revision)
    await putConfigMap("new")
    await eventually(followed.lines, ["ADDED new", "ADDED old", "synced"])
  })

  test("of a settled tenant delivers everything when its objects are needed", async () => {
    await putConfigMap("old")
    const followed = follow(configMaps)
    start(controlPlane.store.revision)
    feed.wake()
    await eventually(followed.lines, ["ADDED old", "synced"])
  })

  test("is settled after everything was delivered, and reports that it is asleep", async () => {
    const followed = follow(configMaps)
    start()
    await putConfigMap("one")
    await expect.poll(() => feed.settledAt).toBe(controlPlane.store.revision)
    expect(followed.lines).toContain("ADDED one")
    feed.notifyAsleep()
    expect(followed.lines.at(-1)).toBe("asleep")
    follow(secrets)
    expect(feed.settledAt).toBeUndefined()
  })

  test("delivers nothing after its tenant was closed", async () => {
    const followed = follow(configMaps)
    start()
    await eventually(followed.lines, ["synced"])
    ended.abort()
    await putConfigMap("late")
    await running
    expect(followed.lines).toEqual(["synced"])
  })
})
