import { describe, expect, test } from "vitest"
import { serve, send } from "./testing/serve.ts"

const versionOf = (group: string): object[] => [{ groupVersion: `${group}/v1`, version: "v1" }]

describe("discovery", () => {
  test("reads the aggregated form", async () => {
    await using served = await serve(({ url }, response) => {
      const versions = (names: string[]): object[] =>
        names.map((version) => ({
          version,
          resources: [
            {
              resource: "things",
              scope: "Namespaced",
              verbs: ["get"],
              responseKind: { kind: "Thing" },
              subresources: [{ subresource: "status" }, { subresource: "scale", responseKind: { kind: "Scale" } }],
            },
          ],
        }))
      const items = url.endsWith("/api") ? [] : [{ metadata: { name: "g" }, versions: versions(["v2", "v1"]) }]
      send(response, 200, { kind: "APIGroupDiscoveryList", items })
    })
    expect(await served.client.discover()).toEqual([
      {
        group: "g",
        version: "v2",
        resource: "things",
        namespaced: true,
        kind: "Thing",
        verbs: ["get"],
        hasScale: true,
        otherVersions: ["v1"],
      },
    ])
  })

  test("requests each group if there is no aggregated form", async () => {
    const answers: Record<string, object> = {
      "/api": { kind: "APIVersions", versions: ["v1"] },
      "/apis": {
        kind: "APIGroupList",
        groups: [{ name: "g", versions: [{ groupVersion: "g/v1" }], preferredVersion: { groupVersion: "g/v1" } }],
      },
      "/api/v1": { resources: [{ name: "pods", namespaced: true, kind: "Pod", verbs: [] }, { name: "pods/status" }] },
      "/apis/g/v1": {
        resources: [
          { name: "things", namespaced: false, kind: "Thing", verbs: [] },
          { name: "things/scale", kind: "Scale" },
        ],
      },
    }
    await using served = await serve(({ url }, response) =>
      send(response, 200, answers[url.slice("/tenants/a".length)]),
    )
    const found = await served.client.discover()
    const rows = found.map(({ group, resource, hasScale = false }) => [`${group}/${resource}`, hasScale])
    expect(rows).toEqual([
      ["/pods", false],
      ["g/things", true],
    ])
    expect(await served.client.unavailable()).toEqual([])
  })

  test("takes null for an empty list", async () => {
    const aggregated: Record<string, object> = {
      "/api": { kind: "APIGroupDiscoveryList", items: null },
      "/apis": {
        kind: "APIGroupDiscoveryList",
        items: [
          { metadata: { name: "a" }, versions: null },
          { metadata: { name: "b" }, versions: [{ version: "v1", resources: null }] },
          {
            metadata: { name: "c" },
            versions: [{ version: "v1", resources: [{ resource: "things", scope: "Cluster", verbs: null }] }],
          },
        ],
      },
    }
    const plain: Record<string, object> = {
      "/api": { kind: "APIVersions", versions: null },
      "/apis": {
        kind: "APIGroupList",
        groups: [{ name: "a", versions: null }, ...["b", "c"].map((name) => ({ name, versions: versionOf(name) }))],
      },
      "/apis/b/v1": { resources: null },
      "/apis/c/v1": { resources: [{ name: "things", namespaced: false, kind: "", verbs: null }] },
    }
    for (const answers of [aggregated, plain]) {
      await using served = await serve(({ url }, response) =>
        send(response, 200, answers[url.slice("/tenants/a".length)]),
      )
      const found = { group: "c", version: "v1", resource: "things", namespaced: false, kind: "", verbs: [] }
      expect(await served.client.discover()).toEqual([found])
      expect(await served.client.unavailable()).toEqual([])
    }
  })

  test("reports unavailable groups separately", async () => {
    const version = (name: string, freshness: string): object => ({
      version: name,
      freshness,
      resources: [
        { resource: `things-of-${name}`, scope: "Namespaced", verbs: ["list"], responseKind: { kind: "Thing" } },
      ],
    })
    const groups = [{ metadata: { name: "g" }, versions: [version("v2", "Stale"), version("v1", "Current")] }]
    await using served = await serve(({ url }, response) =>
      send(response, 200, { kind: "APIGroupDiscoveryList", items: url.endsWith("/apis") ? groups : [] }),
    )
    expect((await served.client.discover()).map(({ resource }) => resource)).toEqual(["things-of-v1"])
    expect(await served.client.unavailable()).toEqual(["g/v2"])
  })
})
