import { afterAll, beforeAll, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

interface Legacy {
  name: string
  kind: string
  verbs: string[]
  namespaced: boolean
  shortNames?: string[]
}

const aggregated = (root: string, version: string) =>
  plane.call("GET", root, undefined, {
    headers: {
      accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`,
    },
  })

test.each(["v2"])("%s names the same resources as the documents per version", async (version) => {
  const lines: string[] = []
  for (const root of ["/api", "/apis"]) {
    const answer = await aggregated(root, version)
    expect(answer.headers["content-type"]).toContain(`v=${version}`)
    for (const group of answer.json.items) {
      for (const { version: served, resources } of group.versions) {
        const prefix = group.metadata.name === undefined ? `/api/${served}` : `/apis/${group.metadata.name}/${served}`
        for (const { resource, responseKind, scope, verbs, subresources = [], shortNames = [] } of resources) {
          if (verbs.length > 0) lines.push([prefix, resource, responseKind.kind, scope, verbs, shortNames].join(" "))
          for (const sub of subresources)
            lines.push(
              [prefix, `${resource}/${sub.subresource}`, sub.responseKind.kind, scope, sub.verbs, []].join(" "),
            )
        }
      }
    }
  }
  const legacy: string[] = []
  const groups = await plane.call("GET", "/apis")
  const versions = [
    "/api/v1",
    ...groups.json.groups.flatMap(({ versions: all }: { versions: { groupVersion: string }[] }) =>
      all.map(({ groupVersion }) => `/apis/${groupVersion}`),
    ),
  ]
  for (const prefix of versions) {
    for (const { name, kind, verbs, namespaced, shortNames = [] } of (await plane.call("GET", prefix)).json
      .resources as Legacy[])
      legacy.push([prefix, name, kind, namespaced ? "Namespaced" : "Cluster", verbs, shortNames].join(" "))
  }
  expect(lines.length).toBeGreaterThan(90)
  expect(lines.sort()).toEqual(legacy.sort())
})

test("a client that has the document is told so", async () => {
  const first = await aggregated("/apis", "v2")
  const again = await plane.call("GET", "/apis", undefined, {
    headers: {
      accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
      "if-none-match": first.headers.etag ?? "",
    },
  })
  expect(again).toMatchObject({ code: 304, text: "" })
})

test.each(["/apis/absent.example.com", "/apis/apps/v9", "/api/v2"])("%s is 404", async (path) => {
  expect((await plane.call("GET", path)).code).toBe(404)
})
