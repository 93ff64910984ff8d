import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane
const configMaps = "/api/v1/namespaces/default/configmaps"

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

const create = async (name: string, more: object = {}) =>
  (await plane.call("POST", configMaps, { metadata: { name, ...more } })).json

test.each(["uid", "resourceVersion"])("another %s than the object's is 409, and deletes nothing", async (field) => {
  const { metadata } = await create(`by-${field.toLowerCase()}`)
  const path = `${configMaps}/${metadata.name}`
  const wrong = field === "uid" ? "00000000-0000-4000-8000-000000000000" : "1"
  expect((await plane.call("DELETE", path, { preconditions: { [field]: wrong } })).json).toMatchObject({
    code: 409,
    reason: "Conflict",
  })
  expect((await plane.call("GET", path)).code).toBe(200)
  expect((await plane.call("DELETE", path, { preconditions: { [field]: metadata[field] } })).json).toMatchObject({
    status: "Success",
    details: { name: metadata.name, kind: "configmaps", uid: metadata.uid },
  })
})

test.each<[string, object]>([
  ["a policy nobody knows", { propagationPolicy: "Sometimes" }],
  ["two policies", { propagationPolicy: "Background", orphanDependents: true }],
  ["a dry run nobody knows", { dryRun: ["Some"] }],
])("%s is refused", async (_what, options) => {
  expect((await plane.call("DELETE", `${configMaps}/kube-root-ca.crt`, options)).code).toBe(422)
})

test("a collection is deleted as far as it is selected", async () => {
  for (const [name, app] of [
    ["one", "a"],
    ["two", "a"],
    ["three", "b"],
  ])
    await create(name ?? "", { labels: { app } })
  const deleted = await plane.call("DELETE", `${configMaps}?labelSelector=app%3Da`)
  expect(deleted).toMatchObject({ code: 200, json: { kind: "ConfigMapList" } })
  const left = await plane.call("GET", `${configMaps}?labelSelector=app`)
  expect(left.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(["three"])
})

test("who says in the old way that dependents go is told whether the object is gone: 202 when it is not yet", async () => {
  const finalizers = ["example.com/held"]
  await plane.call("POST", configMaps, { metadata: { name: "held", finalizers } })
  expect((await plane.call("DELETE", `${configMaps}/held`, { orphanDependents: false })).code).toBe(202)
  expect((await plane.call("DELETE", `${configMaps}/held`)).code).toBe(200)
})

test("what a delete's query says counts without a body alone", async () => {
  await plane.call("POST", configMaps, { metadata: { name: "dry" } })
  expect((await plane.call("DELETE", `${configMaps}/dry?dryRun=All`)).code).toBe(200)
  expect((await plane.call("GET", `${configMaps}/dry`)).code).toBe(200)
  expect((await plane.call("DELETE", `${configMaps}/dry?dryRun=`)).code).toBe(422)
  expect(
    (await plane.call("DELETE", `${configMaps}/dry?dryRun=All`, { kind: "DeleteOptions", apiVersion: "v1" })).code,
  ).toBe(200)
  expect((await plane.call("GET", `${configMaps}/dry`)).code).toBe(404)
})
