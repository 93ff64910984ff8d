import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { contextOf, createControlPlaneStub, type ControlPlaneStub } from "../../testing/control-plane-stub.ts"
import { internalWrite, withoutAdmission } from "./internal-write.ts"
import type { DeleteRequest, Registry, RegistryEvent, WatchRequest } from "../rest.ts"

const open: ControlPlaneStub[] = []

afterEach(async () => {
  for (const stub of open.splice(0)) await stub[Symbol.asyncDispose]()
})

const namespace = "default"

function setUp(resource = "configmaps", group = "", version = "v1") {
  const stub = createControlPlaneStub()
  open.push(stub)
  const registry = stub.resources.registry({ group, version, resource }) as Registry
  const ctx = contextOf(stub, { group, version, resource, namespace })
  const { kind } = registry.definition
  const apiVersion = group === "" ? version : `${group}/${version}`
  const make = (name: string, rest: object = {}, meta: object = {}): KubeObject => ({
    kind,
    apiVersion,
    metadata: { name, ...meta },
    ...rest,
  })
  return {
    stub,
    registry,
    ctx,
    make,
    create: (object: KubeObject, dryRun = false) =>
      registry.create(ctx, object, internalWrite("", dryRun), withoutAdmission),
    update: (name: string, change: (current: KubeObject) => KubeObject, subresource = "") =>
      registry.update(
        ctx,
        namespace,
        name,
        (o) => change(o as KubeObject),
        internalWrite(subresource),
        withoutAdmission,
      ),
    remove: (name: string, request: Partial<DeleteRequest> = {}) =>
      registry.delete(ctx, namespace, name, { dryRun: false, ...request }, withoutAdmission),
    get: async (name: string) => (await registry.get(ctx, namespace, name)).object(),
  }
}

describe("create", () => {
  test("sets metadata and returns the bytes of a later get", async () => {
    const { create, make, registry, ctx } = setUp()
    const made = await create(make("a", { data: { x: "1" } }, { uid: "mine", generation: 7, selfLink: "/x" }))
    expect(made.object()).toMatchObject({ metadata: { name: "a", namespace, resourceVersion: made.resourceVersion } })
    expect(made.object().metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(made.object().metadata.generation).toBe(7) // this kind does not count generations and keeps the client's value
    const read = await registry.get(ctx, namespace, "a")
    expect(Buffer.from(read.bytes()).toString()).toBe(Buffer.from(made.bytes()).toString())
    expect(JSON.parse(Buffer.from(read.bytes()).toString())).toEqual(made.object())
    expect(read.length).toBe(read.bytes().length)
  })

  test("reports a name in use, also by an object that is being deleted", async () => {
    const { create, make, remove } = setUp()
    await create(make("a"))
    await expect(create(make("a"))).rejects.toThrow('configmaps "a" already exists')
    await create(make("b", {}, { finalizers: ["example.com/hold"] }))
    await remove("b")
    await expect(create(make("b"))).rejects.toThrow('object is being deleted: configmaps "b" already exists')
  })

  test.each([false, true])("yields to other requests between its steps, dry run: %s", async (dryRun) => {
    const { registry, ctx, make } = setUp()
    const data = Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`key${index}`, "x"]))
    const options = { ...internalWrite("", dryRun), fieldManager: "test", managersKnown: false }
    const written = async (name: string, pause: () => Promise<void> | undefined): Promise<KubeObject> => {
      const value = await registry.create({ ...ctx, pause }, make(name, { data }), options, withoutAdmission)
      const object = JSON.parse(Buffer.from(value.bytes()).toString()) as KubeObject
      expect(value.object()).toEqual(object)
      return object
    }
    const plain = await written("plain", () => undefined)
    let turns = 0
    const made = await written("made", () => Promise.resolve().then(() => void turns++))
    expect(turns).toBeGreaterThan(8)
    expect(Object.keys(made)).toEqual(Object.keys(plain))
    expect(made["data"]).toEqual(data)
    const fields = (object: KubeObject) =>
      object.metadata.managedFields?.map(({ fieldsV1 }) => JSON.stringify(fieldsV1))
    expect(fields(made)).toEqual(fields(plain))
    expect(fields(made)?.[0]).toContain('"f:key11999":{}')
  })

  test("generates unused names", async () => {
    const { create, make } = setUp()
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const object = make("", {}, { generateName: "x-" })
      names.add((await create(object)).object().metadata.name ?? "")
    }
    expect(names.size).toBe(20)
  })

  test("writes nothing on dry run", async () => {
    const { create, make, get, stub } = setUp()
    const before = stub.store.revision
    expect((await create(make("a"), true)).object().metadata.uid).toBeDefined()
    expect(stub.store.revision).toBe(before)
    await expect(get("a")).rejects.toThrow('configmaps "a" not found')
  })

  test.each([
    ["another namespace", { name: "a", namespace: "other" }, "does not match the namespace sent on the request"],
    ["a resource version", { name: "a", resourceVersion: "5" }, "resourceVersion should not be set"],
    ["no name", {}, 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'],
    ["a bad name", { name: "A" }, 'ConfigMap "A" is invalid: metadata.name: Invalid value: "A"'],
    ["a bad name before a resource version", { name: "A", resourceVersion: "5" }, "metadata.name: Invalid value"],
  ])("rejects %s", async (_, metadata, message) => {
    const { create } = setUp()
    await expect(create({ kind: "ConfigMap", apiVersion: "v1", metadata })).rejects.toThrow(message)
  })
})

test("missing permission is reported before an invalid resource version", async () => {
  const { registry, ctx, make } = setUp()
  const object = make("a", {}, { resourceVersion: "5" })
  const validate = (): Promise<void> => Promise.reject(new Error("a policy said no"))
  await expect(registry.create(ctx, object, internalWrite(""), { ...withoutAdmission, validate })).rejects.toThrow(
    "a policy said no",
  )
})

test.each(["0", "abc"])("resource version %s of a new object is ignored", async (resourceVersion) => {
  const { create, make } = setUp()
  const made = await create(make("a", {}, { resourceVersion }))
  expect(Number(made.resourceVersion)).toBeGreaterThan(0)
  expect(made.object().metadata.resourceVersion).toBe(made.resourceVersion)
})

describe("update", () => {
  test("rejects an old resource version and accepts an empty one", async () => {
    const { create, make, update } = setUp()
    const { resourceVersion } = await create(make("a"))
    await update("a", () => make("a", { data: { x: "1" } }))
    await expect(update("a", () => make("a", {}, { resourceVersion }))).rejects.toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  test("writes nothing without changes, regardless of key order", async () => {
    const { create, make, update } = setUp()
    const made = await create(make("a", { data: { x: "1", y: "2" } }))
    const { value } = await update("a", () => make("a", { data: { y: "2", x: "1" } }))
    expect(value.resourceVersion).toBe(made.resourceVersion)
  })

  test("retries after a concurrent write", async () => {
    const { create, make, update, get } = setUp()
    await create(make("a", { data: { n: "0" } }))
    const add = () => update("a", (o) => ({ ...o, data: { n: String(Number((o["data"] as { n: string }).n) + 1) } }))
    await Promise.all([add(), add(), add(), add()])
    expect((await get("a"))["data"]).toEqual({ n: "4" })
  })

  test("keeps system fields", async () => {
    const { create, make, update } = setUp()
    const made = (await create(make("a"))).object().metadata
    const { value } = await update("a", () =>
      make("a", { data: { x: "1" } }, { creationTimestamp: "2001-01-01T00:00:00Z", deletionTimestamp: undefined }),
    )
    expect(value.object().metadata).toMatchObject({ uid: made.uid, creationTimestamp: made.creationTimestamp })
  })

  test.each([
    ["another uid", { name: "a", uid: "x" }, "Precondition failed: UID in precondition: x, UID in object meta: "],
    ["another name", { name: "b" }, "the name of the object (b) does not match the name on the URL (a)"],
    ["a deletionTimestamp", { name: "a", deletionTimestamp: "2001-01-01T00:00:00Z" }, "field is immutable"],
  ])("rejects %s", async (_, metadata, message) => {
    const { create, make, update } = setUp()
    await create(make("a"))
    await expect(update("a", () => make("a", {}, metadata))).rejects.toThrow(message)
  })

  test("creates the object if the kind allows it, else responds with 404", async () => {
    const leases = setUp("leases", "coordination.k8s.io")
    const configMaps = setUp()
    await expect(configMaps.update("a", () => configMaps.make("a"))).rejects.toMatchObject({ code: 404 })
    if (!leases.registry.definition.strategy.allowCreateOnUpdate) return
    const { created } = await leases.update("a", () => leases.make("a", { spec: {} }))
    expect(created).toBe(true)
  })
})

describe("the generation and status", () => {
  const make = (parts: ReturnType<typeof setUp>) =>
    parts.make("a", { spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } } })
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }

  test("an update of the spec increments the generation and does not change status", async () => {
    const parts = setUp("ingresses", "networking.k8s.io")
    const made = await parts.create({ ...make(parts), status })
    expect(made.object().metadata.generation).toBe(1)
    expect(made.object()["status"]).not.toEqual(status)
    const { value } = await parts.update("a", (o) => ({
      ...o,
      spec: { ...(o["spec"] as object), ingressClassName: "c" },
      status,
    }))
    expect(value.object().metadata.generation).toBe(2)
    expect(value.object()["status"]).toEqual(made.object()["status"])
  })

  test("an update of the status does not change generation and spec", async () => {
    const parts = setUp("ingresses", "networking.k8s.io")
    const made = await parts.create(make(parts))
    const { value } = await parts.update("a", (o) => ({ ...o, spec: { ingressClassName: "c" }, status }), "status")
    expect(value.object()).toMatchObject({ status, spec: made.object()["spec"], metadata: { generation: 1 } })
  })
})

describe("delete", () => {
  test.each([
    ["recreate it", true],
    ["write to it", false],
  ])("removes the pod that was read and no other, if others %s concurrently", async (_, isRemoved) => {
    const { stub, registry, create, update, make, remove, get } = setUp("pods")
    const pod = (): KubeObject => {
      const made = make("a", { spec: { containers: [{ name: "c", image: "i" }] } })
      registry.definition.strategy.default?.(made)
      return made
    }
    await create(pod())
    const { store } = stub
    const txn = store.txn.bind(store)
    let isFirst = true
    const interrupted = vi.spyOn(store, "txn").mockImplementation(async (transaction) => {
      if (isFirst && transaction.operations[0]?.type === "delete") {
        isFirst = false
        if (isRemoved) {
          await remove("a")
          await create(pod())
        } else
          await update("a", (current) => ({ ...current, metadata: { ...current.metadata, labels: { is: "late" } } }))
      }
      return txn(transaction)
    })
    onTestFinished(() => interrupted.mockRestore())
    expect((await remove("a")).gone).toBe(true)
    expect(isFirst).toBe(false)
    if (isRemoved) expect((await get("a")).metadata.deletionTimestamp).toBeUndefined()
    else await expect(get("a")).rejects.toThrow('pods "a" not found')
  })

  test("removes an object without finalizers immediately", async () => {
    const { create, make, remove, get } = setUp()
    await create(make("a"))
    expect((await remove("a")).gone).toBe(true)
    await expect(get("a")).rejects.toMatchObject({ code: 404 })
  })

  test("waits for finalizers, and removes the object with the last one", async () => {
    const { create, make, remove, get, update } = setUp()
    await create(make("a", {}, { finalizers: ["example.com/hold"] }))
    const { gone, value } = await remove("a")
    expect(gone).toBe(false)
    expect(value.object().metadata).toMatchObject({ deletionGracePeriodSeconds: 0 })
    const again = await remove("a")
    expect(again.value.resourceVersion).toBe(value.resourceVersion)
    await expect(
      update("a", (o) => ({ ...o, metadata: { ...o.metadata, finalizers: ["example.com/hold", "example.com/b"] } })),
    ).rejects.toThrow("no new finalizers can be added if the object is being deleted")
    await update("a", (o) => ({ ...o, metadata: { ...o.metadata, finalizers: [] } }))
    await expect(get("a")).rejects.toMatchObject({ code: 404 })
  })

  test.each([
    ["Foreground", ["foregroundDeletion"]],
    ["Orphan", ["orphan"]],
  ])("leaves %s deletion to the garbage collector", async (propagationPolicy, finalizers) => {
    const { create, make, remove } = setUp()
    await create(make("a"))
    const { gone, value } = await remove("a", { propagationPolicy })
    expect(gone).toBe(false)
    expect(value.object().metadata.finalizers).toEqual(finalizers)
    expect((await remove("a", { propagationPolicy: "Background" })).gone).toBe(true)
  })

  test("checks preconditions", async () => {
    const { create, make, remove } = setUp()
    const { resourceVersion } = await create(make("a"))
    await expect(remove("a", { preconditions: { uid: "x" } })).rejects.toThrow(
      'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (',
    )
    await expect(remove("a", { preconditions: { resourceVersion: "1" } })).rejects.toMatchObject({ code: 409 })
    expect((await remove("a", { preconditions: { resourceVersion } })).gone).toBe(true)
  })

  test("writes nothing on dry run", async () => {
    const { create, make, remove, get } = setUp()
    await create(make("a"))
    expect((await remove("a", { dryRun: true })).gone).toBe(true)
    expect((await get("a")).metadata.name).toBe("a")
  })
})

describe("list", () => {
  async function filled(count: number) {
    const parts = setUp()
    for (let i = 0; i < count; i++) {
      const labels = { parity: i % 2 === 0 ? "even" : "odd" }
      await parts.create(parts.make(`c${String(i).padStart(2, "0")}`, { data: { i: String(i) } }, { labels }))
    }
    return parts
  }
  const names = (items: readonly { object(): KubeObject }[]) => items.map((item) => item.object().metadata.name)

  test("a page of large objects is shorter than its limit, and the next one has the others", async () => {
    const { registry, ctx, create, make } = setUp()
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

  test("yields to other requests while it filters, also in pages", async () => {
    const { registry, ctx } = await filled(99)
    const fieldSelector = "metadata.name!=c01"
    for (const limit of [{}, { limit: 500 }]) {
      let turns = 0
      const turn = (): undefined => void turns++
      const { items } = await registry.list({ ...ctx, turn }, { namespace, fieldSelector, ...limit })
      expect(items).toHaveLength(98)
      expect(turns).toBe(3)
    }
  })

  test("ends when its client disconnects", async () => {
    const { registry, ctx, stub } = await filled(99)
    const { items } = await stub.store.range("/registry/core/configmaps/")
    const range = vi.spyOn(stub.store, "range")
    range.mockImplementation(async () => ({ items, revision: 1, more: range.mock.calls.length < 20 }))
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
    const { registry, ctx } = setUp()
    await expect(registry.list(ctx, options)).rejects.toThrow(message)
  })
})

describe("watch", () => {
  function follow(parts: ReturnType<typeof setUp>, request: Partial<WatchRequest> = {}) {
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
    const parts = setUp()
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

  test("starts with existing objects, followed by a bookmark if requested", async () => {
    const parts = setUp()
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
    const parts = setUp()
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

  test("shares events between watches", async () => {
    const parts = setUp()
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
    const parts = setUp()
    const { resourceVersion } = await parts.create(parts.make("a"))
    await parts.create(parts.make("b"))
    await parts.stub.store.compact(parts.stub.store.revision)
    await expect(follow(parts, { resourceVersion }).ended).rejects.toMatchObject({ code: 410, reason: "Expired" })
  })
})

describe("resources of two groups", () => {
  test("events are served in both groups", async () => {
    const core = setUp("events")
    const made = await core.create(
      core.make("e", {
        involvedObject: { kind: "Pod", name: "p", namespace },
        message: "hello",
        count: 2,
        type: "Normal",
      }),
    )
    const registry = core.stub.resources.registry({ group: "events.k8s.io", version: "v1", resource: "events" })
    const read = (await (registry as Registry).get(core.ctx, namespace, "e")).object()
    expect(read).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      regarding: { name: "p" },
      note: "hello",
      deprecatedCount: 2,
      metadata: { uid: made.object().metadata.uid, resourceVersion: made.resourceVersion },
    })
    expect(read).not.toHaveProperty("message")
  })
})
