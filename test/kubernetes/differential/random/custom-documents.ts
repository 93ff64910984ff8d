// Random kinds of one group, which change, come and go: what discovery and OpenAPI say of them, in every form. The description of each
// schema tells when a server has taken a change over.

import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { atOnce } from "../../../../apimachinery/steps.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { validatingVersions } from "../../../../gateway/custom-resources/definition/validate-version.ts"
import type { CustomResourceVersion } from "../../../../gateway/custom-resources/types.ts"
import { definitions } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { objectSchema } from "./schemas.ts"
import { titled } from "./titled.ts"
import { isJsonObject } from "./values.ts"

const group = "o@{id}.example.com"
const rounds = 4
const versionNames = ["v1", "v1beta1", "v2"]

export function randomCustomDocumentScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length: rounds }, (_, round) => changes(random, round)).flat()
  return {
    name: `documents of a group at random, seed ${seed}`,
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

function changes(random: Random, round: number): RequestStep[] {
  const { versions, served } = versionsOf(random, round)
  const spec = { versions, names: names(random) }
  const write =
    round === 0
      ? post(definitions, {
          metadata: { name: `things.${group}` },
          spec: { group, scope: pick(random, ["Namespaced", "Cluster"]), ...spec },
        })
      : patch(`${definitions}/things.${group}`, mergePatch, { spec })
  const others = other(random, round)
  return [
    { ...write, label: `WRITE ${round}` },
    ...others,
    ...served.map((version) => get(openAPI(version), { document: true, untilText: `round ${round} of ${version}` })),
    ...served.map((version) => inForm(random, get(`/apis/${group}/${version}`))),
    inForm(random, get(`/apis/${group}`)),
    ...(chance(random, 0.3) ? [get(openAPI(pick(random, versionNames)), { document: true, headers: asProtobuf })] : []),
  ]
}

const openAPI = (version: string): string => `/openapi/v3/apis/${group}/${version}`
const asProtobuf = { accept: "application/com.github.proto-openapi.spec.v3@v1.0+protobuf" }

function inForm(random: Random, step: RequestStep): RequestStep {
  const accept = pick(random, ["", "", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*"])
  return accept === "" ? step : { ...step, headers: { accept } }
}

/** Another kind of the same group comes, or goes. */
function other(random: Random, round: number): RequestStep[] {
  const name = `others.${group}`
  const label = `WRITE others ${round}`
  if (round % 2 === 1)
    return [
      remove(`${definitions}/${name}`, undefined, { label }),
      get(`${definitions}/${name}`, { untilCode: 404, label: `${label}, gone` }),
    ]
  const version = (each: string, storage: boolean): JsonObject => ({
    name: each,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: "object", description: `round ${round} of ${each}` } },
  })
  const versions = [version("v1", true), ...(chance(random, 0.5) ? [version("v3", false)] : [])]
  const own = { plural: "others", kind: "Other", shortNames: ["o"] }
  return [post(definitions, { metadata: { name }, spec: { group, scope: "Cluster", names: own, versions } }, { label })]
}

const names = (random: Random): JsonObject => ({
  plural: "things",
  singular: "thing",
  kind: "Thing",
  listKind: "ThingList",
  shortNames: ["t", "th"].filter(() => chance(random, 0.5)),
  categories: ["all", "some"].filter(() => chance(random, 0.5)),
})

interface Versions {
  versions: JsonObject[]
  served: string[]
}

/** Those that are refused are left to other generators: documents stay as they are, and a step would wait for a change in vain. */
function versionsOf(random: Random, round: number): Versions {
  const drawn = drawVersions(random, round)
  const at = FieldPath.root("spec")
  const { own, common } = atOnce(validatingVersions(at, drawn.versions as unknown as CustomResourceVersion[]))
  return own.length + common.length === 0 ? drawn : versionsOf(random, round)
}

function drawVersions(random: Random, round: number): Versions {
  const stored = pick(random, versionNames)
  const chosen = versionNames.filter((name) => name === stored || chance(random, 0.6))
  const versions = chosen.map((name) => ({
    name,
    served: name === stored || chance(random, 0.8),
    storage: name === stored,
    schema: { openAPIV3Schema: rootSchema(random, `round ${round} of ${name}`) },
    ...(chance(random, 0.3) ? { deprecated: true } : {}),
    ...(chance(random, 0.5) ? { subresources: subresources(random) } : {}),
  }))
  return { versions, served: versions.filter(({ served }) => served).map(({ name }) => name) }
}

const subresources = (random: Random): JsonObject => ({
  ...(chance(random, 0.7) ? { status: {} } : {}),
  ...(chance(random, 0.5)
    ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } }
    : {}),
})

function rootSchema(random: Random, description: string): JsonObject {
  const spec = described(random, objectSchema(random, 0, 0))
  const metadata = { type: "object", properties: { name: { type: "string", pattern: "^a" } } }
  return {
    type: "object",
    description,
    properties: {
      ...(chance(random, 0.9) ? { spec } : {}),
      ...(chance(random, 0.2) ? { metadata } : {}),
      ...(chance(random, 0.2) ? { apiVersion: { type: "string", description: "of its own" } } : {}),
      ...(chance(random, 0.3) ? { status: { type: "object", "x-kubernetes-preserve-unknown-fields": true } } : {}),
    },
    ...(chance(random, 0.15) ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(chance(random, 0.2) ? { required: ["spec"] } : {}),
  }
}

/** Not `externalDocs` without its url: upstream answers with nothing at all if it is to make protobuf of that. */
const words: readonly JsonObject[] = [
  { description: "words" },
  { description: "" },
  { title: "title" },
  { example: { a: [1, "x", null] } },
  { externalDocs: { url: "https://example.com", description: "docs" } },
  { format: "int64" },
  { format: "bogus" },
  { format: "int-or-string" },
]

const combined: readonly JsonObject[] = [
  { anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  { oneOf: [{ required: ["a"] }, { not: { required: ["b"] } }] },
  { not: { required: ["zz"] } },
  { allOf: [{ maxProperties: 9 }, { minProperties: 0 }] },
  { maxProperties: 0 },
]

const embedded: JsonObject = { type: "object", "x-kubernetes-embedded-resource": true }

/** With more keywords, here and inside. */
function described(random: Random, schema: JsonObject): JsonObject {
  if (schema["type"] === "object" && schema["properties"] === undefined && chance(random, 0.2))
    return { ...embedded, "x-kubernetes-preserve-unknown-fields": true }
  const { properties, items, additionalProperties } = schema
  const inner = (value: Json | undefined, name: string): JsonObject =>
    isJsonObject(value) ? { [name]: described(random, value) } : {}
  return {
    ...schema,
    ...(chance(random, 0.35) ? pick(random, words) : {}),
    ...(schema["type"] === "object" && chance(random, 0.2) ? pick(random, combined) : {}),
    ...(isJsonObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [
              name,
              isJsonObject(value) ? described(random, value) : value,
            ]),
          ),
        }
      : {}),
    ...(schema["x-kubernetes-list-type"] === undefined ? inner(items, "items") : {}),
    ...inner(additionalProperties, "additionalProperties"),
  }
}
