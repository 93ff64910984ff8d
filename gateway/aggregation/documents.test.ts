// What documents tell of an aggregated API: discovery and OpenAPI.

import { describe, expect, test } from "vitest"
import { eventually } from "../../test/harness/eventually.ts"
import type { Loose } from "../testing/kinds.ts"
import { flunders, group } from "./testing/flunder-server.ts"
import {
  aggregatedDiscovery,
  apiService,
  available,
  bodyOf,
  call,
  gateway,
  program,
  services,
  useAggregatedServer,
  wardle,
} from "./testing/aggregated-server.ts"

useAggregatedServer()

describe("an aggregated API server", () => {
  test("is part of discovery, aggregated or not", async () => {
    const groups = (await bodyOf(call("/apis")))["groups"] as Loose[]
    expect(groups.at(-1)).toMatchObject({
      name: group,
      preferredVersion: { groupVersion: `${group}/v1alpha1`, version: "v1alpha1" },
    })
    expect(await bodyOf(call(`/apis/${group}`))).toMatchObject({ kind: "APIGroup", name: group })
    expect((await bodyOf(call(`/apis/${group}/v1alpha1`)))["resources"][0]).toEqual(flunders)
    const items = await aggregatedDiscovery()
    expect(items.at(-1)).toEqual({
      metadata: { name: group },
      versions: [
        {
          version: "v1alpha1",
          freshness: "Current",
          resources: [
            {
              resource: "flunders",
              responseKind: { group: "", version: "", kind: "Flunder" },
              scope: "Namespaced",
              singularResource: "flunder",
              verbs: ["get", "list"],
              subresources: [
                {
                  subresource: "status",
                  responseKind: { group: "", version: "", kind: "Flunder" },
                  verbs: ["get"],
                },
              ],
            },
          ],
        },
      ],
    })
  })

  test("is part of OpenAPI", async () => {
    const { paths } = await bodyOf(call("/openapi/v3"))
    expect(paths).toMatchObject({
      "api/v1": {},
      [`apis/${group}/v1alpha1`]: { serverRelativeURL: "/openapi/v3/apis/x?hash=1" },
    })
    expect(paths.version.serverRelativeURL).not.toBe("/openapi/v3/version?hash=1")
    expect(await bodyOf(call(`/openapi/v3/apis/${group}/v1alpha1`))).toEqual({ openapi: "3.0.0" })
    expect(await bodyOf(call(`/openapi/v3/apis/${group}`))).toEqual({ openapi: "3.0.1" })
    expect((await bodyOf(call("/openapi/v3/version"))).info.title).toBe("Kubernetes")
    expect((await call(`/openapi/v3/apis/${group}/v2`)).code).toBe(404)
  })

  test("is part of OpenAPI v2, for which it is asked once a minute", async () => {
    const documents = await Promise.all([1, 2, 3].map(() => bodyOf(call("/openapi/v2"))))
    for (const { paths, definitions } of documents) {
      expect(paths[`/apis/${group}/v1alpha1/flunders`]).toEqual({ get: { responses: {} } })
      expect(paths["/apis/apps/v1/deployments"].get.description).not.toBe("not of this server")
      expect(definitions.Flunder).toEqual({ type: "object" })
    }
    const asked = program.seen.filter(({ url }) => url === "/openapi/v2")
    expect(asked.map(({ headers }) => headers["x-remote-user"])).toEqual(["system:aggregator"])
  })

  test.each([
    ["v1broken", undefined],
    ["v1empty", ["flunders"]],
  ])("can send broken discovery without affecting others: %s", async (version, expected) => {
    await call(services, { method: "POST", body: apiService(version, wardle, { caBundle: program.caBundle }) })
    await eventually(async () => (await available(`${version}.${group}`))["status"] === "True")
    const items = await aggregatedDiscovery()
    const { versions } = items.find(({ metadata }) => metadata.name === group)!
    const served = versions.find((each: Loose) => each["version"] === version)
    expect(served.resources?.map(({ resource }: Loose) => resource)).toEqual(expected)
    const found = await gateway.gateway.tenants.client("a").discover()
    expect(found.filter((each) => each.group === group && each.version === version)).toEqual([])
    await call(`${services}/${version}.${group}`, { method: "DELETE" })
  })
})
