// Patches of webhooks that make another object of the one they are shown, and those of objects that are created by an apply.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import type { WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { applyPatch, get, mergePatch, patch, post, put, type RequestStep } from "../scenario.ts"
import { maps, patchText, type WebhookScenario } from "./scenario.ts"

const group = "i@{id}.example.com"
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

/** `@{group}`: that of the object. */
const patches: readonly Loose[] = [
  { op: "replace", path: "/apiVersion", value: "v2" },
  { op: "replace", path: "/apiVersion", value: "" },
  { op: "replace", path: "/apiVersion", value: "a/b/c" },
  { op: "replace", path: "/apiVersion", value: "other.example.com/v1" },
  { op: "replace", path: "/apiVersion", value: "@{group}/v9" },
  { op: "replace", path: "/apiVersion", value: 5 },
  { op: "remove", path: "/apiVersion" },
  { op: "replace", path: "/kind", value: "Secret" },
  { op: "replace", path: "/kind", value: null },
  { op: "remove", path: "/kind" },
  { op: "add", path: "/metadata/resourceVersion", value: "1" },
  { op: "remove", path: "/metadata" },
]

const reply =
  (operation: Loose): WebhookHandler =>
  (call) => {
    const [own = ""] = String(call.body["request"].object?.apiVersion ?? "").split("/")
    return patchText(JSON.stringify([operation]).replace("@{group}", own))(call)
  }

export function identityScenarios(): WebhookScenario[] {
  return [...ofVersions(), ofManagers(), ...patches.flatMap(ofPatch)]
}

/** Of one mutating webhook, since others are shown the object in the version that it was made. */
function ofVersions(): WebhookScenario[] {
  const list = (version: string): string => `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
  const versions = ["v1", "v2"]
  return versions.map((made) => {
    const value = `autoscaling/${made}`
    return {
      name: `autoscalers become some of version ${made}`,
      hooks: [{ kind: "Mutating" as const, reply: reply({ op: "replace", path: "/apiVersion", value }) }, {}],
      steps: versions.flatMap((version) => [
        post(list(version), {
          metadata: { name: version },
          spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
        }),
        patch(`${list(version)}/${version}`, mergePatch, { spec: { maxReplicas: 5 } }),
      ]),
    }
  })
}

/** In upstream's memory the times of managers have nanoseconds until a patch is applied, even to no effect. */
function ofManagers(): WebhookScenario {
  const map = (name: string, value: string): Json =>
    ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: value } }) as unknown as Json
  const values = ["a", "a", "b", "c", "c"]
  return {
    name: "ConfigMaps stay what they are in writes of one manager, maybe in the same second",
    hooks: [{ kind: "Mutating", reply: reply({ op: "test", path: "/kind", value: "ConfigMap" }) }, {}],
    steps: [
      post(maps, map("a", "z")),
      ...values.map((value) => patch(`${maps}/a`, mergePatch, { data: { a: value } })),
      ...["d", "d"].map((value) => put(`${maps}/a`, map("a", value))),
      ...values.map((value) => patch(`${maps}/b?fieldManager=m`, applyPatch, map("b", value))),
      patch(`${maps}/b?fieldManager=n&force=true`, applyPatch, map("b", "e")),
    ],
  }
}

function ofPatch(operation: Loose): WebhookScenario[] {
  const text = JSON.stringify(operation)
  const hooks = [{ kind: "Mutating" as const, reply: reply(operation) }]
  return [
    { name: `custom resources become others: ${text}`, hooks, steps: ofThings() },
    { name: `ConfigMaps become others: ${text}`, hooks, steps: ofMaps() },
  ]
}

function ofMaps(): RequestStep[] {
  return [
    post(maps, { metadata: { name: "a" } }),
    patch(`${maps}/a`, mergePatch, { data: { a: "b" } }),
    patch(`${maps}/b?fieldManager=m`, applyPatch, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } }),
    get(`${maps}/b`),
  ]
}

function ofThings(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const versions = [{ name: "v1", served: true, storage: true, schema }]
  const thing = (name: string): Loose => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: {} })
  return [
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
    }),
    get(things, { untilCode: 200, label: "LIST when served" }),
    // Upstream takes no writes at first.
    post(`${things}?dryRun=All`, thing("a"), {
      untilText: ["Thing", "Kind", "CR", "Internal"],
      label: "POST until written",
    }),
    post(things, thing("a")),
    patch(`${things}/a`, mergePatch, { spec: { a: 1 } }),
    patch(`${things}/b?fieldManager=m`, applyPatch, thing("b")),
    get(`${things}/b`),
  ]
}
