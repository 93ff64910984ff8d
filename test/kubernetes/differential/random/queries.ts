// Random request parameters and response formats.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import type { JsonObject, Kind } from "../generate/objects.ts"
import { asMetadata, asMetadataList, asTable, asYaml } from "../generate/life-scenarios.ts"

type Parameters = readonly (readonly [string, readonly string[]])[]

const writing: Parameters = [
  ["fieldManager", ["me", "", "x".repeat(129), "%C3%BCn%C3%AF", "a%00b"]],
  ["fieldValidation", ["Strict", "Warn", "Ignore", "strict", ""]],
  ["dryRun", ["All", "", "None"]],
  ["pretty", ["true", "1", "bogus"]],
  ["force", ["true", "false", "maybe"]],
]

const saved = "@{valid.metadata.resourceVersion}"

const reading: Parameters = [
  ["resourceVersion", ["0", "", saved, saved, "abc", "-1", "1.5", "007"]],
  ["resourceVersionMatch", ["NotOlderThan", "Exact", "Bogus", ""]],
  ["limit", ["1", "2", "0", "-1", "x", "9223372036854775808", "500"]],
  ["continue", ["x", "e30", "", "eyJ2Ijoi"]],
  ["timeoutSeconds", ["5", "0", "-1", "x", "2.5"]],
  ["pretty", ["true", "0"]],
  ["includeObject", ["None", "Metadata", "Object", "Bogus"]],
  ["allowWatchBookmarks", ["true", "x"]],
  ["sendInitialEvents", ["true", "false", "x"]],
  ["bogus", ["1"]],
]

const labelSelectors = [
  "own%3D@{id}",
  "own%3D@{id},a",
  "!a",
  "a%20in%20(1,2)",
  "a%20notin%20(1)",
  "a!%3D1",
  "a%3E1",
  "a%3D",
  "a%3D%3D1",
  "app%3Dminimal",
  "a%20in%20()",
  "a%3Db%20c",
  "(",
  "%C3%BC",
  "a%3D%C3%BC",
  "-a",
]

export function writeQuery(random: Random): string {
  return query(random, writing, 0.12)
}

/** Selectors that a collection supports, and others. */
export function listQuery(random: Random, kind: Kind, inNamespace: boolean): string {
  const fields = ["metadata.name", "metadata.namespace", ...(kind.facts.selectableFields ?? []), "spec.bogus"]
  const fieldSelector = `${pick(random, fields)}${pick(random, ["%3D", "!%3D", "%3D%3D", "%3E", ""])}${pick(random, ["minimal", "x", "", "true", "%5C,"])}`
  // Cluster-scoped collections contain objects of other scenarios: only own objects are comparable.
  const own = inNamespace ? [] : ["labelSelector=own%3D@{id}"]
  return [
    ...own,
    query(random, reading, 0.15),
    ...(own.length === 0 && chance(random, 0.3) ? [`labelSelector=${pick(random, labelSelectors)}`] : []),
    ...(chance(random, 0.3) ? [`fieldSelector=${fieldSelector}`] : []),
  ]
    .filter((part) => part !== "")
    .join("&")
}

export function getQuery(random: Random): string {
  return query(random, reading.slice(0, 2), 0.3)
}

function query(random: Random, parameters: Parameters, probability: number): string {
  return parameters
    .filter(() => chance(random, probability))
    .flatMap(([name, values]) =>
      Array.from({ length: chance(random, 0.05) ? 2 : 1 }, () => `${name}=${pick(random, values)}`),
    )
    .join("&")
}

const protobuf = "application/vnd.kubernetes.protobuf"
const accepts: readonly string[] = [
  asYaml.accept,
  asTable.accept,
  asMetadata.accept,
  asMetadataList.accept,
  protobuf,
  `${protobuf};as=Table;v=v1;g=meta.k8s.io`,
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "*/*",
  "text/plain, application/json;q=0.1",
  "application/json;q=0",
  "image/png",
  "application/json;as=Table;v=v1;g=meta.k8s.io, application/json",
  "application/cbor, application/json",
]

export function randomHeaders(random: Random, probability = 0.35): { headers?: Record<string, string> } {
  return chance(random, probability) ? { headers: { accept: pick(random, accepts) } } : {}
}

export function deleteOptions(random: Random): { query: string; body: Json | undefined } {
  const asQuery = query(
    random,
    [
      ["gracePeriodSeconds", ["0", "1", "-1", "x", "30"]],
      ["propagationPolicy", ["Foreground", "Background", "Orphan", "Bogus"]],
      ["orphanDependents", ["true", "false"]],
      ["dryRun", ["All", "Bogus"]],
      ["ignoreStoreReadErrorWithClusterBreakingPotential", ["true", "x"]],
    ],
    0.2,
  )
  if (chance(random, 0.5)) return { query: asQuery, body: undefined }
  const body: JsonObject = {}
  const maybe = (name: string, values: readonly Json[]): void => {
    if (chance(random, 0.25)) body[name] = pick(random, values)
  }
  maybe("apiVersion", ["v1", "meta.k8s.io/v1", "bogus/v1"])
  maybe("kind", ["DeleteOptions", "Pod"])
  maybe("gracePeriodSeconds", [0, 1, -1, "x"])
  maybe("propagationPolicy", ["Foreground", "Background", "Orphan", "Bogus", ""])
  maybe("orphanDependents", [true, false])
  maybe("dryRun", [["All"], [], ["Bogus"], ["All", "All"]])
  maybe("preconditions", [
    { uid: "@{valid.metadata.uid}" },
    { uid: "other" },
    { resourceVersion: "1" },
    { resourceVersion: saved },
    {},
    null,
  ])
  maybe("bogus", [1])
  return { query: asQuery, body }
}
