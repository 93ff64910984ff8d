// Creates, updates and deletes of a registry.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { internalWrite, withoutAdmission } from "./internal-write.ts"
import type { Registry } from "../rest.ts"
import { namespace, openRegistry } from "./testing/open-registry.ts"

describe("create", () => {
  test("sets metadata and returns the bytes of a later get", async () => {
    const { create, make, registry, ctx } = openRegistry()
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
    const { create, make, remove } = openRegistry()
    await create(make("a"))
    await expect(create(make("a"))).rejects.toThrow('configmaps "a" already exists')
    await create(make("b", {}, { finalizers: ["example.com/hold"] }))
    await remove("b")
    await expect(create(make("b"))).rejects.toThrow('object is being deleted: configmaps "b" already exists')
  })

  test.each([false, true])("yields to other requests between its steps, dry run: %s", async (dryRun) => {
    const { registry, ctx, make } = openRegistry()
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
    const { create, make } = openRegistry()
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const object = make("", {}, { generateName: "x-" })
      names.add((await create(object)).object().metadata.name ?? "")
    }
    expect(names.size).toBe(20)
  })

  test("writes nothing on dry run", async () => {
    const { create, make, get, stub } = openRegistry()
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
    const { create } = openRegistry()
    await expect(create({ kind: "ConfigMap", apiVersion: "v1", metadata })).rejects.toThrow(message)
  })
})

test("missing permission is reported before an invalid resource version", async () => {
  const { registry, ctx, make } = openRegistry()
  const object = make("a", {}, { resourceVersion: "5" })
  const validate = (): Promise<void> => Promise.reject(new Error("a policy said no"))
  await expect(registry.create(ctx, object, internalWrite(""), { ...withoutAdmission, validate })).rejects.toThrow(
    "a policy said no",
  )
})

test.each(["0", "abc"])("resource version %s of a new object is ignored", async (resourceVersion) => {
  const { create, make } = openRegistry()
  const made = await create(make("a", {}, { resourceVersion }))
  expect(Number(made.resourceVersion)).toBeGreaterThan(0)
  expect(made.object().metadata.resourceVersion).toBe(made.resourceVersion)
})

describe("update", () => {
  test("rejects an old resource version and accepts an empty one", async () => {
    const { create, make, update } = openRegistry()
    const { resourceVersion } = await create(make("a"))
    await update("a", () => make("a", { data: { x: "1" } }))
    await expect(update("a", () => make("a", {}, { resourceVersion }))).rejects.toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    })
  })

  test("writes nothing without changes, regardless of key order", async () => {
    const { create, make, update } = openRegistry()
    const made = await create(make("a", { data: { x: "1", y: "2" } }))
    const { value } = await update("a", () => make("a", { data: { y: "2", x: "1" } }))
    expect(value.resourceVersion).toBe(made.resourceVersion)
  })

  test("retries after a concurrent write", async () => {
    const { create, make, update, get } = openRegistry()
    await create(make("a", { data: { n: "0" } }))
    const add = () => update("a", (o) => ({ ...o, data: { n: String(Number((o["data"] as { n: string }).n) + 1) } }))
    await Promise.all([add(), add(), add(), add()])
    expect((await get("a"))["data"]).toEqual({ n: "4" })
  })

  test("keeps system fields", async () => {
    const { create, make, update } = openRegistry()
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
    const { create, make, update } = openRegistry()
    await create(make("a"))
    await expect(update("a", () => make("a", {}, metadata))).rejects.toThrow(message)
  })

  test("creates the object if the kind allows it, else responds with 404", async () => {
    const leases = openRegistry("leases", "coordination.k8s.io")
    const configMaps = openRegistry()
    await expect(configMaps.update("a", () => configMaps.make("a"))).rejects.toMatchObject({ code: 404 })
    if (!leases.registry.definition.strategy.allowCreateOnUpdate) return
    const { created } = await leases.update("a", () => leases.make("a", { spec: {} }))
    expect(created).toBe(true)
  })
})

describe("the generation and status", () => {
  const make = (parts: ReturnType<typeof openRegistry>) =>
    parts.make("a", { spec: { defaultBackend: { service: { name: "x", port: { number: 80 } } } } })
  const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }

  test("an update of the spec increments the generation and does not change status", async () => {
    const parts = openRegistry("ingresses", "networking.k8s.io")
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
    const parts = openRegistry("ingresses", "networking.k8s.io")
    const made = await parts.create(make(parts))
    const { value } = await parts.update("a", (o) => ({ ...o, spec: { ingressClassName: "c" }, status }), "status")
    expect(value.object()).toMatchObject({ status, spec: made.object()["spec"], metadata: { generation: 1 } })
  })
})

describe("resources of two groups", () => {
  test("events are served in both groups", async () => {
    const core = openRegistry("events")
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
