// Random policies that mutate custom resources of two versions, in a row: what patches make of them is of any type, and only validated at
// the end. Each is about objects of its own.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definition, definitions, group, thing } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { titled } from "./titled.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const path = (version: string): string => `/apis/${group}/${version}/namespaces/@{ns}/things`
const count = 15

export function randomCustomMutationScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const numbers = Array.from({ length: count }, (_, number) => String(number))
  const steps = [
    post(definitions, twoVersions()),
    get(path("v1"), { untilCode: 200 }),
    get(path("v2"), { untilCode: 200 }),
    ...numbers.flatMap((number) => inForce(number, mutationsOf(random), random)),
    ...inForce("last", [add("/metadata/annotations", "{'seen': 'yes'}")], random),
    post(`${path("v1")}?dryRun=All`, object("last", "v1"), { untilText: '"seen"' }),
    ...numbers.flatMap((number) => requests(random, number)),
    ...[...numbers, "last"].flatMap((number) =>
      ["mutatingadmissionpolicybindings", "mutatingadmissionpolicies"].map((kind) =>
        remove(`${policies}/${kind}/w${number}-@{id}`),
      ),
    ),
  ]
  const name = `mutations of custom resources at random, seed ${seed}`
  return { name, steps: titled(steps), anyOrder: true, byChance: true }
}

/** The second has another default, and no status. */
function twoVersions(): Json {
  const made = definition() as { spec: { versions: JsonObject[] } }
  const [first] = made.spec.versions
  if (first === undefined) return made as unknown as Json
  const second = structuredClone(first) as { schema: { openAPIV3Schema: { properties: { spec: JsonObject } } } }
  const { spec } = second.schema.openAPIV3Schema.properties
  ;(spec["properties"] as JsonObject)["color"] = { type: "string", enum: ["red", "green"], default: "green" }
  made.spec.versions.push({ ...(second as unknown as JsonObject), name: "v2", storage: false, subresources: {} })
  return made as unknown as Json
}

function object(policy: string, version: string, more: JsonObject = {}): Json {
  const metadata = { name: `o${policy}`, labels: { policy }, annotations: { x: "y" }, finalizers: ["example.com/f"] }
  const spec = { size: 1, tags: ["t"], parts: [{ name: "p", count: 2 }], labels: { a: "b" }, any: {} }
  const made = thing(spec, "", { status: { phase: "x" } }) as JsonObject
  return { ...made, apiVersion: `${group}/${version}`, metadata: { ...metadata, ...more } }
}

function requests(random: Random, policy: string): RequestStep[] {
  const [created, changed] = [pick(random, ["v1", "v2"]), pick(random, ["v1", "v2"])]
  const at = `${path(changed)}/o${policy}`
  const resourceVersion = `@{o${policy}.metadata.resourceVersion}`
  const change = { metadata: { annotations: { k: "v" } }, spec: { size: 2 } }
  return [
    pick(random, [
      () => post(`${path(created)}?fieldManager=a`, object(policy, created), { save: `o${policy}` }),
      () => patch(`${path(created)}/o${policy}?fieldManager=a`, applyPatch, object(policy, created)),
    ])(),
    pick(random, [
      () => patch(`${at}?fieldManager=b`, mergePatch, change),
      () => patch(`${at}?fieldManager=b`, mergePatch, { metadata: { labels: { z: "y" } } }),
      () => put(`${at}?fieldManager=b`, object(policy, changed, { resourceVersion })),
      () => patch(`${at}?fieldManager=b&force=true`, applyPatch, object(policy, changed)),
      () => patch(`${at}?fieldManager=b&dryRun=All`, mergePatch, change),
      () => patch(`${path("v1")}/o${policy}/status?fieldManager=b`, mergePatch, { ...change, status: { phase: "z" } }),
    ])(),
    get(at),
  ]
}

const add = (where: string, value: string): string => `[JSONPatch{op: 'add', path: '${where}', value: ${value}}]`

const fields =
  "size color name any any/x port tags tags/0 tags/- parts parts/0 parts/- parts/0/count parts/0/more labels labels/a nothing choice more when ratio"
const ofMetadata =
  "labels labels/other annotations finalizers finalizers/- ownerReferences generateName generation creationTimestamp namespace more uid managedFields"
const paths = fields.split(" ").map((field) => `/spec/${field}`)
const others = ofMetadata.split(" ").map((field) => `/metadata/${field}`)

const values = [
  "5",
  "1.5",
  "'x'",
  "'red'",
  "null",
  "true",
  "[]",
  "{}",
  "['a', 'b']",
  "[1]",
  "{'a': 'b'}",
  "{'a': 5}",
  "{'name': 'q'}",
  "[{'name': 'q'}]",
  "object.spec.parts",
  "object.metadata",
  "object.apiVersion",
  "'2024-01-01T00:00:00Z'",
]

function operation(random: Random): string {
  const where = pick(
    random,
    chance(random, 0.7) ? paths : [...others, "/spec", "/status", "/status/more", "/more", "/apiVersion"],
  )
  const op = pick(random, ["add", "add", "add", "add", "replace", "remove"])
  const value = op === "remove" ? "" : `, value: ${pick(random, values)}`
  return `JSONPatch{op: '${op}', path: '${where}'${value}}`
}

function mutationsOf(random: Random): string[] {
  return Array.from({ length: 1 + random(3) }, () =>
    pick(random, [
      () => `[${operation(random)}]`,
      () => `[${operation(random)}]`,
      () => `[${operation(random)}, ${operation(random)}]`,
      () => "Object{spec: Object.spec{port: 5}}",
      () => "Object{metadata: Object.metadata{labels: {'n': 'm'}}}",
      () => "Object{spec: Object.spec{labels: {'q': 'r'}, parts: [Object.spec.parts{name: 'p', count: 7}]}}",
      () => "Object{status: Object.status{replicas: 3}}",
    ])(),
  )
}

function inForce(policy: string, mutations: readonly string[], random: Random): RequestStep[] {
  const name = `w${policy}-@{id}`
  const resourceRules = [
    {
      apiGroups: [group],
      apiVersions: ["*"],
      operations: ["CREATE", "UPDATE"],
      resources: ["things", "things/status"],
    },
  ]
  const spec = {
    reinvocationPolicy: pick(random, ["Never", "IfNeeded"]),
    failurePolicy: pick(random, ["Fail", "Fail", "Ignore"]),
    matchConstraints: { objectSelector: { matchLabels: { policy } }, resourceRules },
    mutations: mutations.map((expression) =>
      expression.startsWith("[")
        ? { patchType: "JSONPatch", jsonPatch: { expression } }
        : { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    ),
  }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata: { name }, spec }),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }),
  ]
}
