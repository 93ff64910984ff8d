import { expect, test } from "vitest"
import { noSuchPath, notFound, serviceUnavailable } from "../../apimachinery/status.ts"
import { readError } from "../../client/http/errors.ts"
import { configMaps } from "../../client/resources.ts"
import type { DiscoveredResource, Resource } from "../../client/rest.ts"
import { isAbsence } from "./absence.ts"

const flunders = { group: "wardle.example.com", version: "v1", resource: "flunders", namespaced: true }
const aggregated: DiscoveredResource = { ...flunders, kind: "Flunder", verbs: [], isAggregated: true }
const virtualClusters = { ...flunders, group: "tenancy.x-k8s.io", resource: "virtualclusters" }
const bare = readError({ method: "GET", path: "/" }, 404, Buffer.from("no such page"))
const tenantGone = notFound(virtualClusters, "a")

test.each<[string, unknown, Resource, boolean]>([
  ["an object that is not found", notFound(configMaps, "a"), configMaps, true],
  ["an object of an aggregated API that is not found", notFound(flunders, "a"), aggregated, true],
  ["a path that is not served", noSuchPath(), configMaps, false],
  ["a path that is not served by an aggregated API", noSuchPath(), aggregated, false],
  ["what an aggregated API's server does not find, and says so in its own words", bare, aggregated, true],
  ["what somebody in between does not find", bare, configMaps, false],
  ["a tenant that is gone", tenantGone, configMaps, false],
  ["a tenant of a tenant that is not found", tenantGone, virtualClusters, true],
  ["a server that does not answer", serviceUnavailable("down"), configMaps, false],
])("%s", (_what, error, resource, expected) => {
  expect(isAbsence(error, resource)).toBe(expected)
})
