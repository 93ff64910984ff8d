import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane

/** A definition is served shortly after it is written. */
const patience = { timeout: 20_000, interval: 20 }

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

import { apiVersionOf, collectionPath, storedResources } from "./minimal-objects.ts"

interface Definition {
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[]
}

const kindsOf = (definitions: Record<string, Definition>): Set<string> =>
  new Set(
    Object.values(definitions).flatMap((definition) =>
      (definition["x-kubernetes-group-version-kind"] ?? []).map(
        ({ group, version, kind }) => `${group}/${version}/${kind}`,
      ),
    ),
  )

test("version 2", async () => {
  const { json } = await plane.call("GET", "/openapi/v2")
  const kinds = kindsOf(json.definitions)
  for (const { group, version, kind } of storedResources()) expect(kinds).toContain(`${group}/${version}/${kind}`)
  for (const resource of storedResources())
    expect(Object.keys(json.paths)).toContain(collectionPath(resource, "{namespace}"))
})

test("version 3, by the index, whose addresses may be kept", async () => {
  const index = (await plane.call("GET", "/openapi/v3")).json.paths as Record<string, { serverRelativeURL: string }>
  for (const [path, resources] of Map.groupBy(storedResources(), (resource) =>
    resource.group === "" ? "api/v1" : `apis/${apiVersionOf(resource)}`,
  )) {
    const { serverRelativeURL = "" } = index[path] ?? {}
    expect(serverRelativeURL).toMatch(/\?hash=[0-9A-F]+$/)
    const { code, json } = await plane.call("GET", `/openapi/v3/${path}`)
    expect(code).toBe(200)
    const kinds = kindsOf(json.components.schemas)
    for (const { group, version, kind } of resources) expect(kinds).toContain(`${group}/${version}/${kind}`)
  }
})

test("version 3 by a hash is for good, by another it is elsewhere, and known it is not sent again", async () => {
  const index = (await plane.call("GET", "/openapi/v3")).json.paths as Record<string, { serverRelativeURL: string }>
  const { serverRelativeURL: address = "" } = index["apis/apps/v1"] ?? {}
  const { code, headers } = await plane.call("GET", address)
  expect(code).toBe(200)
  expect(headers["cache-control"]).toBe("public, immutable")
  const elsewhere = await plane.call("GET", "/openapi/v3/apis/apps/v1?hash=ABC")
  expect(elsewhere.code).toBe(301)
  expect(elsewhere.headers.location).toMatch(new RegExp(`^/tenants/[^/]+${address.replaceAll(/[.?]/g, "\\$&")}$`))
  const { etag = "" } = headers
  expect((await plane.call("GET", address, undefined, { headers: { "if-none-match": etag } })).code).toBe(304)
})

test("what is made of custom resources changes the hash of their documents alone", { timeout: 60_000 }, async () => {
  const paths = async () =>
    (await plane.call("GET", "/openapi/v3")).json.paths as Record<string, { serverRelativeURL: string }>
  const before = await paths()
  const definition = (properties: object) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "papers.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "papers", kind: "Paper" },
      versions: [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties } } },
      ],
    },
  })
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  expect((await plane.call("POST", definitions, definition({}))).code).toBe(201)
  await expect.poll(async () => (await paths())["apis/example.com/v1"], patience).toBeDefined()
  const first = await paths()
  expect(first["apis/apps/v1"]).toEqual(before["apis/apps/v1"])
  const contentType = "application/merge-patch+json"
  const change = definition({ spec: { type: "object" } })
  expect((await plane.call("PATCH", `${definitions}/papers.example.com`, change, { contentType })).code).toBe(200)
  await expect
    .poll(async () => (await paths())["apis/example.com/v1"], patience)
    .not.toEqual(first["apis/example.com/v1"])
  const second = await paths()
  expect(second["apis/apps/v1"]).toEqual(before["apis/apps/v1"])
  const { json } = await plane.call("GET", second["apis/example.com/v1"]?.serverRelativeURL ?? "")
  expect(json.components.schemas["com.example.v1.Paper"].properties).toHaveProperty("spec")
})

test("what is not served has no document", async () => {
  expect((await plane.call("GET", "/openapi/v3/apis/absent/v1")).code).toBe(404)
})
