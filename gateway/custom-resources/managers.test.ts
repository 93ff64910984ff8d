import { expect, test } from "vitest"
import type { Loose } from "../testing/kinds.ts"
import { crds, definition, group, world } from "./testing/defined-kinds.ts"

test("a write of a status takes no fields of a manager in another version that it cannot change", async () => {
  const text = { type: "string" }
  const part = { type: "object", properties: { word: text } }
  const openAPIV3Schema = { type: "object", properties: { spec: part, status: part } }
  const version = { served: true, schema: { openAPIV3Schema }, subresources: { status: {} } }
  const versions = [
    { ...version, name: "v1", storage: true },
    { ...version, name: "v2", storage: false },
  ]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const apply = (in_: string, fieldManager: string, document: Loose, subresource = ""): Promise<unknown> => {
    const whole = { apiVersion: `${group}/${in_}`, kind: "Widget", metadata: { name: "a" }, ...document }
    const options = { type: "apply", fieldManager, ...(subresource === "" ? {} : { subresource }) } as const
    return kinds.client.patch({ ...resource, version: in_ }, "default", "a", whole, options)
  }
  await apply("v2", "one", { spec: { word: "a" } })
  await apply("v1", "two", { spec: { word: "b" }, status: { word: "c" } }, "status")
  const { metadata, spec, status } = (await kinds.client.get(resource, "default", "a")) as Loose
  expect([spec, status]).toEqual([{ word: "a" }, { word: "c" }])
  expect(metadata.managedFields).toMatchObject([
    { manager: "one", apiVersion: "example.com/v2", fieldsV1: { "f:spec": { "f:word": {} } } },
    { manager: "two", apiVersion: "example.com/v1", fieldsV1: { "f:status": { "f:word": {} } } },
  ])
})

test("what is applied in a version that keeps unknown fields is stored with those of the stored version", async () => {
  const text = { type: "string" }
  const version = (name: string, properties: Loose, more: Loose = {}): Loose => {
    const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties } }, ...more }
    return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema } }
  }
  const free = { "x-kubernetes-preserve-unknown-fields": true }
  const versions = [version("v1", { both: text, only: text }), version("v2", { both: text }, free)]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions as never }))
  const inVersion = (name: string) => ({ group, version: name, resource: "widgets", namespaced: true })
  const apply = async (spec: Loose): Promise<unknown> => {
    const whole = { apiVersion: `${group}/v2`, kind: "Widget", metadata: { name: "a" }, spec }
    const options = { type: "apply", fieldManager: "one" } as const
    return ((await kinds.client.patch(inVersion("v2"), "default", "a", whole, options)) as Loose)["spec"]
  }
  const read = async (): Promise<unknown> =>
    ((await kinds.client.get(inVersion("v1"), "default", "a")) as Loose)["spec"]
  expect(await apply({ both: "a", only: "b", none: "c" })).toEqual({ both: "a" })
  expect(await read()).toEqual({ both: "a", only: "b" })
  expect(await apply({ both: "a", only: "c" })).toEqual({ both: "a" })
  expect(await read()).toEqual({ both: "a", only: "c" })
})

// As kube-apiserver (test/kubernetes/differential/cases/custom-optional-rules.ts).
test("an object that is not of its type since its definition has changed loses its managers in a write", async () => {
  const versions = (type: string): Loose[] => {
    const spec = { type: "object", properties: { size: { type }, count: { type: "integer" } } }
    const openAPIV3Schema = { type: "object", properties: { spec } }
    return [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
  }
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions("string") as never }))
  const write = async (spec: Loose): Promise<boolean> =>
    (await kinds.patch(`${group}/widgets`, "a", { spec }))["metadata"].managedFields !== undefined
  await kinds.create(`${group}/widgets`, { metadata: { name: "a" }, spec: { size: "x" } })
  expect(await write({ count: 1 })).toBe(true)
  await kinds.patch(crds, `widgets.${group}`, { spec: { versions: versions("integer") } })
  expect(await write({ count: 2 })).toBe(false)
  expect(await write({ size: 3 })).toBe(false)
})

// As kube-apiserver (test/kubernetes/differential/random/reshaped.ts).
test("an object that another version has made one of another type loses its managers in a write", async () => {
  const version = (name: string, size: Loose): Loose => {
    const spec = { type: "object", properties: { size } }
    const status = { type: "object", properties: { word: { type: "string" } } }
    const openAPIV3Schema = { type: "object", properties: { spec, status } }
    return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema }, subresources: { status: {} } }
  }
  const versions = [version("v1", { type: "integer" }), version("v2", { "x-kubernetes-int-or-string": true })]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions as never }))
  const inVersion = (name: string) => ({ group, version: name, resource: "widgets", namespaced: true })
  const isManagedAfter = async (name: string): Promise<boolean> => {
    const options = { type: "merge", subresource: "status" } as const
    const change = { spec: { size: 1 }, status: { word: name } }
    const { metadata } = await kinds.client.patch(inVersion(name), "default", "a", change, options)
    return metadata.managedFields !== undefined
  }
  const whole = { apiVersion: `${group}/v2`, kind: "Widget", metadata: { name: "a" }, spec: { size: "x" } }
  await kinds.client.patch(inVersion("v2"), "default", "a", whole, { type: "apply", fieldManager: "one" })
  expect(await isManagedAfter("v2")).toBe(true)
  expect(await isManagedAfter("v1")).toBe(false)
})

// As kube-apiserver, which stores the field and drops it when it reads the object.
test("a field that is dropped from what is applied, since none is known there, makes the next write a change", async () => {
  const spec = {
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    properties: { known: { type: "object" } },
  }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions as never }))
  const resource = { group, version: "v1", resource: "widgets", namespaced: true }
  const changedByNothing = async (known: Loose): Promise<boolean> => {
    const whole = { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name: "a" }, spec: { known } }
    const options = { type: "apply", fieldManager: "one" } as const
    const applied = (await kinds.client.patch(resource, "default", "a", whole, options)) as Loose
    expect(applied["spec"]).toEqual({ known: {} })
    const after = await kinds.patch(`${group}/widgets`, "a", {})
    return after["metadata"].resourceVersion !== applied["metadata"].resourceVersion
  }
  expect(await changedByNothing({})).toBe(false)
  expect(await changedByNothing({ unknown: "x" })).toBe(true)
})

// As kube-apiserver (test/kubernetes/differential/random/reshaped.ts).
test("an object with a set of objects, even in an atomic one, has no managers", async () => {
  const atomic = { type: "object", "x-kubernetes-map-type": "atomic" }
  const items = { ...atomic, properties: { key: { type: "string" } } }
  const list = { type: "array", items, "x-kubernetes-list-type": "set" }
  const spec = { type: "object", properties: { whole: { ...atomic, properties: { list } } } }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: versions as never }))
  await kinds.create(`${group}/widgets`, { metadata: { name: "a" }, spec: { whole: { list: [] } } })
  const isManagedWith = async (given: Loose[]): Promise<boolean> =>
    (await kinds.patch(`${group}/widgets`, "a", { spec: { whole: { list: given } } }))["metadata"].managedFields !==
    undefined
  expect(await isManagedWith([])).toBe(true)
  expect(await isManagedWith([{ key: "a" }])).toBe(false)
})
