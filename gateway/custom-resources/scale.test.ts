import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import type { JsonObject } from "../../apimachinery/schema/json-object.ts"
import { type Loose, verdict } from "../testing/kinds.ts"
import { crds, definition, group, withAll, world } from "./testing/defined-kinds.ts"

const widgets = `${group}/widgets`
const resource = { group, version: "v1", resource: "widgets", namespaced: true }

test("a scale of numbers that are none under an older schema is refused", async () => {
  const subresources = { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } }
  const typed = (type: string, more: JsonObject = {}): JsonObject[] => {
    const sized = { type: "object", properties: { size: { type } } }
    const openAPIV3Schema = { type: "object", properties: { spec: sized, status: sized } }
    return [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, ...more }]
  }
  await using kinds = await world(definition("widgets", "Widget", {}, { versions: typed("string") }))
  await kinds.create(widgets, { metadata: { name: "a" }, spec: { size: "1" } })
  await kinds.create(widgets, { metadata: { name: "b" }, spec: {}, status: { size: "x" } })
  await kinds.patch(crds, "widgets.example.com", { spec: { versions: typed("integer", { subresources }) } })
  const scale = (name: string): Promise<string> =>
    verdict(kinds.client.get(resource, "default", name, { subresource: "scale" }))
  expect(await scale("a")).toBe(".spec.size accessor error: 1 is of the type string, expected int64")
  expect(await scale("b")).toBe(".status.size accessor error: x is of the type string, expected int64")
  expect(await verdict(kinds.patch(widgets, "a", { spec: { replicas: 2 } }, { subresource: "scale" }))).toBe(
    ".spec.size accessor error: 1 is of the type string, expected int64",
  )
})

test("a patch of a scale does not give a number to an object that has none", async () => {
  await using kinds = await world(definition("widgets", "Widget", withAll))
  await kinds.create(widgets, { metadata: { name: "a" }, spec: { size: 1 } })
  const scale = (patch: Loose): Promise<string> => verdict(kinds.patch(widgets, "a", patch, { subresource: "scale" }))
  expect(await scale({})).toBe('the spec replicas field ".spec.replicas" cannot be empty')
  expect((await kinds.get(widgets, "a"))["spec"]).not.toHaveProperty("replicas")
  expect(await scale({ spec: { replicas: 2 } })).toBe("accepted")
  expect(await scale({})).toBe("accepted")
  expect((await kinds.get(widgets, "a"))["spec"].replicas).toBe(2)
})

// As kube-apiserver, which stores the number and drops it when it reads the object.
test("a scale whose number the schema does not have keeps none", async () => {
  const subresources = { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } }
  const spec = { type: "object", properties: { size: { type: "integer" } } }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema }, subresources }]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  await kinds.create(widgets, { metadata: { name: "a" }, spec: { size: 1 } })
  const scaled = await kinds.patch(widgets, "a", { spec: { replicas: 2 } }, { subresource: "scale" })
  expect(scaled["spec"]).toEqual({})
  expect((await kinds.get(widgets, "a"))["spec"]).toEqual({ size: 1 })
  expect(await verdict(kinds.client.get(resource, "default", "a", { subresource: "scale" }))).toBe(
    'Internal error occurred: the spec replicas field ".spec.count" does not exist',
  )
})

test("a scale through a version that does not have the number changes that of the stored version", async () => {
  const subresources = { scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } }
  const versionOf = (name: string, fields: object, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: fields } } } },
    subresources,
  })
  const [size, count] = [{ size: { type: "integer" } }, { count: { type: "integer" } }]
  const versions = [versionOf("v1", size, false), versionOf("v2", { ...size, ...count }, true)]
  await using kinds = await world(definition("widgets", "Widget", {}, { versions }))
  const [scaled, stored] = [resource, { ...resource, version: "v2" }]
  const object = { apiVersion: `${resource.group}/v2`, kind: "Widget", metadata: { name: "a", namespace: "default" } }
  await kinds.client.create(stored, { ...object, spec: { size: 1, count: 3 } } as KubeObject)
  await kinds.client.patch(scaled, "default", "a", { spec: { replicas: 2 } }, { type: "merge", subresource: "scale" })
  expect(await kinds.client.get(stored, "default", "a")).toMatchObject({ spec: { size: 1, count: 2 } })
})

test.each(["__proto__", "constructor"])("a scale may be below a field %s", async (name) => {
  const paths = { specReplicasPath: `.spec.${name}.size`, statusReplicasPath: ".status.size" }
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  const more = { subresources: { scale: paths }, schema: { openAPIV3Schema } }
  await using kinds = await world(definition("widgets", "Widget", more))
  await kinds.create(widgets, { metadata: { name: "a" }, spec: {} })
  const scaled = await kinds.patch(widgets, "a", { spec: { replicas: 2 } }, { subresource: "scale" })
  expect(scaled).toMatchObject({ spec: { replicas: 2 } })
  const { value } = Object.getOwnPropertyDescriptor((await kinds.get(widgets, "a"))["spec"], name) ?? {}
  expect(value).toEqual({ size: 2 })
})
