import { describe, expect, test } from "vitest"
import { serve, send } from "./testing/serve.ts"

describe("discovery", () => {
  test("reads the aggregated form", async () => {
    await using served = await serve(({ url }, response) => {
      const versions = (names: string[]): object[] =>
        names.map((version) => ({
          version,
          resources: [{ resource: "things", scope: "Namespaced", verbs: ["get"], responseKind: { kind: "Thing" } }],
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
      "/apis/g/v1": { resources: [{ name: "things", namespaced: false, kind: "Thing", verbs: [] }] },
    }
    await using served = await serve(({ url }, response) =>
      send(response, 200, answers[url.slice("/tenants/a".length)]),
    )
    const found = await served.client.discover()
    expect(found.map(({ group, resource }) => `${group}/${resource}`)).toEqual(["/pods", "g/things"])
    expect(await served.client.unavailable()).toEqual([])
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
