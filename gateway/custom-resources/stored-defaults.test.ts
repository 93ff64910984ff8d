import { expect, test } from "vitest"
import type { JsonObject } from "../../apimachinery/schema/json-object.ts"
import type { Loose } from "../testing/kinds.ts"
import { crds, definition, group, world } from "./testing/defined-kinds.ts"

const widgets = `${group}/widgets`
const text = { type: "string" }

function versionOf(name: string, stored: boolean, properties: Loose, more: Loose = {}): JsonObject {
  return { name, served: true, storage: stored, schema: { openAPIV3Schema: { type: "object", properties } }, ...more }
}

const specOf = (properties: Loose): Loose => ({ spec: { type: "object", properties } })

test("a default of the stored version is that of its definition, until an object is written that had it", async () => {
  const versions = (preset: string): JsonObject[] => [
    versionOf("v1", false, specOf({ both: text })),
    versionOf("v2", true, specOf({ both: text, only: { ...text, default: preset } })),
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions("one") }))
  const inVersion = (version: string) => ({ group, version, resource: "widgets", namespaced: true })
  const read = async (name: string): Promise<unknown> =>
    ((await kinds.client.get(inVersion("v2"), "default", name)) as Loose)["spec"].only
  for (const name of ["a", "b"]) {
    const object = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { namespace: "default", name }, spec: {} }
    await kinds.client.create(inVersion("v1"), object)
    expect(await read(name)).toBe("one")
  }
  await kinds.client.patch(inVersion("v2"), "default", "b", { spec: { both: "x" } }, { type: "merge" })
  await kinds.patch(crds, "widgets.example.com", { spec: { versions: versions("two") } })
  expect([await read("a"), await read("b")]).toEqual(["two", "one"])
  const { items } = await kinds.client.list(inVersion("v2"))
  expect(items.map((item) => (item as Loose)["spec"].only)).toEqual(["two", "one"])
})

// As kube-apiserver, which compares what it would store with what is stored.
test("a write of nothing in a version without a default of the stored version is no change", async () => {
  const versions = [
    versionOf("v1", false, specOf({ both: text })),
    versionOf("v2", true, specOf({ both: text, only: { ...text, default: "x" } })),
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const inVersion = (version: string) => ({ group, version, resource: "widgets", namespaced: true })
  const metadata = { namespace: "default", name: "a" }
  await kinds.client.create(inVersion("v1"), { apiVersion: `${group}/v1`, kind: "Widget", metadata, spec: {} })
  const write = async (version: string): Promise<unknown> =>
    (await kinds.client.patch(inVersion(version), "default", "a", {}, { type: "merge" })).metadata.resourceVersion
  const revisions: unknown[] = []
  for (const version of ["v1", "v1", "v2", "v2", "v1", "v1"]) revisions.push(await write(version))
  const changes = revisions.slice(1).map((revision, index) => revision !== revisions[index])
  // In v2 it is stored with the default, and in v1 without it again.
  expect(changes).toEqual([false, true, false, true, false])
})

test("what is stored in another version has no nulls that its schema does not permit", async () => {
  const versions = [
    versionOf("v1", false, specOf({ word: { ...text, nullable: true } })),
    versionOf("v2", true, specOf({ word: text, other: { ...text, default: "x" } })),
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const metadata = { namespace: "default", name: "a" }
  const object = {
    apiVersion: `${group}/v1`,
    kind: "Widget",
    metadata,
    spec: { word: null },
  }
  await kinds.client.create(resource, object)
  const [stored] = (await kinds.stub.store.range(`/registry/${group}/widgets/`)).items
  expect((JSON.parse(Buffer.from(stored?.value ?? []).toString()) as Loose)["spec"]).toEqual({})
})

test("a default status is that of the definition, until an object is written that had it", async () => {
  const versions = (phase: string): JsonObject[] => {
    const status = { type: "object", default: { phase }, properties: { phase: text } }
    return [versionOf("v1", true, { status }, { subresources: { status: {} } })]
  }
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions("New") }))
  for (const name of ["a", "b"]) {
    const made = await kinds.create(widgets, { metadata: { name } })
    expect(made["status"]).toEqual({ phase: "New" })
  }
  await kinds.patch(widgets, "b", { metadata: { labels: { x: "y" } } })
  await kinds.patch(crds, "widgets.example.com", { spec: { versions: versions("Fresh") } })
  expect((await kinds.get(widgets, "a"))["status"]).toEqual({ phase: "Fresh" })
  expect((await kinds.get(widgets, "b"))["status"]).toEqual({ phase: "New" })
})

test("objects from before a default are selected by it", async () => {
  const versions = (color: Loose): JsonObject[] => [
    versionOf(
      "v1",
      true,
      { spec: { type: "object", default: {}, properties: { color: { ...text, ...color } } } },
      {
        selectableFields: [{ jsonPath: ".spec.color" }],
      },
    ),
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions({}) }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const selected = async (fieldSelector: string): Promise<unknown> =>
    (await kinds.client.list(resource, { namespace: "default", fieldSelector })).items.map(
      ({ metadata }) => metadata.name,
    )
  await kinds.create(widgets, { metadata: { name: "a" } })
  expect([await selected("spec.color=red"), await selected("spec.color!=red")]).toEqual([[], ["a"]])
  await kinds.patch(crds, "widgets.example.com", { spec: { versions: versions({ default: "red" }) } })
  expect([await selected("spec.color=red"), await selected("spec.color!=red")]).toEqual([["a"], []])
})

test("objects without a default of the stored version are marked, so that the others are read without parsing", async () => {
  const spec = specOf({ both: text, only: { ...text, default: "x" } })
  const versions = [versionOf("v1", false, specOf({ both: text })), versionOf("v2", true, spec)]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  for (const version of ["v1", "v2"]) {
    const resource = { group, version, resource: "widgets", namespaced: true }
    const metadata = { namespace: "default", name: `of-${version}` }
    await kinds.client.create(resource, { apiVersion: `${group}/${version}`, kind: "Widget", metadata, spec: {} })
  }
  const { items } = await kinds.stub.store.range(`/registry/${group}/widgets/`)
  const [first, second] = items.map(({ value }) => Buffer.from(value).toString())
  expect(first).toMatch(/^{"apiVersion":/)
  expect(second).toMatch(/^{"kind":"Widget","apiVersion":"example.com\/v2",.*"only":"x"/)
})

test("a status that another version's create drops has the default of the stored version", async () => {
  const status = { type: "object", default: { phase: "New" }, properties: { phase: text } }
  const versions = [
    versionOf("v1", false, { status }, { subresources: { status: {} } }),
    versionOf("v2", true, { status }),
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const inVersion = (version: string) => ({ group, version, resource: "widgets", namespaced: true })
  const metadata = { namespace: "default", name: "a" }
  await kinds.client.create(inVersion("v1"), { apiVersion: `${group}/v1`, kind: "Widget", metadata })
  for (const version of ["v1", "v2"])
    expect(((await kinds.client.get(inVersion(version), "default", "a")) as Loose)["status"]).toEqual({ phase: "New" })
})

test("defaults around the number of a scale are those of the definition, until an object is written that had them", async () => {
  const subresources = { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }
  const versions = (preset: string): JsonObject[] => {
    const properties = { replicas: { type: "integer" }, color: { ...text, default: preset } }
    return [versionOf("v1", true, specOf(properties), { subresources })]
  }
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions("red") }))
  const scaled = { group, version: "v1", resource: "widgets", namespaced: true }
  for (const name of ["a", "b"]) {
    const { metadata } = await kinds.create(widgets, { metadata: { name } })
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata, spec: { replicas: 2 } }
    await kinds.client.update(scaled, scale as never, { subresource: "scale" })
    expect((await kinds.get(widgets, name))["spec"]).toEqual({ replicas: 2, color: "red" })
  }
  const { metadata: before } = await kinds.get(widgets, "b")
  const { metadata: after } = await kinds.patch(widgets, "b", { metadata: { labels: {} } })
  expect(after.resourceVersion).not.toBe(before.resourceVersion)
  await kinds.patch(crds, "widgets.example.com", { spec: { versions: versions("blue") } })
  expect((await kinds.get(widgets, "a"))["spec"]).toEqual({ replicas: 2, color: "blue" })
  expect((await kinds.get(widgets, "b"))["spec"]).toEqual({ replicas: 2, color: "red" })
})

test("what is applied and not read is written once more by the next write", async () => {
  const spec = specOf({ any: { "x-kubernetes-preserve-unknown-fields": true } })
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: [versionOf("v1", true, spec)] }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const apply = async (metadata: Loose, spec: Loose): Promise<Loose> => {
    const object = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { ...metadata, name: "a" }, spec }
    const options = { type: "apply", fieldManager: "m" } as const
    return (await kinds.client.patch(resource, "default", "a", object, options)) as Loose
  }
  const unchanged = async (): Promise<string> =>
    (await kinds.client.patch(resource, "default", "a", {}, { type: "merge" })).metadata.resourceVersion ?? ""
  for (const [metadata, spec, generation] of [
    [{ labels: null }, {}, 1],
    [{ finalizers: [] }, {}, 1],
    [{}, { any: null }, 2],
  ] as const) {
    const applied = await apply(metadata, spec)
    expect(applied).toMatchObject({ spec: {} })
    expect(applied["metadata"].generation).toBe(generation)
    const revisions = [applied["metadata"].resourceVersion, await unchanged(), await unchanged()]
    expect(revisions[1]).not.toBe(revisions[0])
    expect(revisions[2]).toBe(revisions[1])
  }
})
