import { expect, test } from "vitest"
import type { Loose } from "../testing/kinds.ts"
import { definition, group, world } from "./testing/defined-kinds.ts"

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
