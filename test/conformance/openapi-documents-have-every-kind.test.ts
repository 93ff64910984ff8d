import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane

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

test("what is not served has no document", async () => {
  expect((await plane.call("GET", "/openapi/v3/apis/absent/v1")).code).toBe(404)
})
