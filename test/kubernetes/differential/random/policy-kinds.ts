// Random policies in force about kinds with several versions, their subresources and connections to them, with custom resources as
// parameters: as which version and kind they see a request. Each is about objects of its own.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { definitionOf, definitions } from "../cases/things.ts"
import type { JsonObject } from "../generate/objects.ts"
import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  withQuery,
} from "../scenario.ts"
import { dry, event, group, type Target, targets, thing } from "./policy-targets.ts"
import { titled } from "./titled.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const paramGroup = "pp@{id}.example.com"
const count = 10
const requestCount = 6

export function randomPolicyKindScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const numbers = Array.from({ length: count }, (_, number) => String(number))
  const chosen = numbers.map(() => pick(random, targets))
  const steps = [
    ...defined(),
    ...numbers.flatMap((number, index) => created(chosen[index] as Target, number)),
    ...numbers.flatMap((number, index) => inForce(number, ...policyOf(random, chosen[index] as Target, number))),
    // Upstream finds a kind of parameters up to half a minute after its definition.
    ...["Limit", "Bound"].flatMap((kind) => [
      ...inForce(kind.toLowerCase(), lastPolicy(kind), {}),
      post(
        "/api/v1/namespaces/@{ns}/configmaps?dryRun=All",
        { metadata: { name: kind.toLowerCase() } },
        { untilText: "all are in force", label: `POST until ${kind}` },
      ),
    ]),
    ...numbers.flatMap((number, index) =>
      Array.from({ length: requestCount }, () => request(random, chosen[index] as Target, number)),
    ),
  ]
  return { name: `kinds of policies at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const here = { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } }

const lastPolicy = (kind: string): JsonObject => ({
  paramKind: { apiVersion: `${paramGroup}/v1`, kind },
  matchConstraints: {
    namespaceSelector: here,
    resourceRules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["CREATE"],
        resources: ["configmaps"],
        resourceNames: [kind.toLowerCase()],
      },
    ],
  },
  validations: [{ expression: "false", message: "all are in force" }],
})

const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
const schema = { openAPIV3Schema: { type: "object", properties: { spec: free, status: free } } }

function defined(): RequestStep[] {
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" }
  const versions = ["v1", "v2", "v3"].map((name) => ({
    name,
    served: name !== "v3",
    storage: name === "v1",
    schema,
    subresources: name === "v2" ? { status: {} } : { status: {}, scale },
  }))
  const param = (scope: string, plural: string, kind: string): Json =>
    ({
      metadata: { name: `${plural}.${paramGroup}` },
      spec: {
        group: paramGroup,
        scope,
        names: { plural, singular: plural.slice(0, -1), kind },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    }) as unknown as Json
  const base = `/apis/${paramGroup}/v1`
  const made = (name: string, size: number): Json => ({
    apiVersion: `${paramGroup}/v1`,
    metadata: { name, labels: { param: name } },
    spec: { size },
  })
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as unknown as Json, { label: "WRITE things" }),
    post(definitions, param("Namespaced", "limits", "Limit"), { label: "WRITE limits" }),
    post(definitions, param("Cluster", "bounds", "Bound"), { label: "WRITE bounds" }),
    ...["v1", "v2"].map((version) => get(`/apis/${group}/${version}/things`, { untilCode: 200 })),
    ...["limits", "bounds"].map((plural) => get(`${base}/${plural}`, { untilCode: 200 })),
    ...["p", "q"].flatMap((name, index) => [
      post(`${base}/namespaces/@{ns}/limits`, { ...(made(name, index) as JsonObject), kind: "Limit" }),
      post(`${base}/bounds`, { ...(made(name, index) as JsonObject), kind: "Bound" }),
    ]),
  ]
}

function collection({ group: of, resource }: Target, version: string): string {
  return `${of === "" ? "/api" : `/apis/${of}`}/${version}/namespaces/@{ns}/${resource}`
}

function objectOf(target: Target, version: string, name: string, labels: JsonObject): JsonObject {
  const apiVersion = target.group === "" ? version : `${target.group}/${version}`
  return { apiVersion, kind: target.kind, metadata: { name, labels }, ...target.body }
}

function created(target: Target, number: string): RequestStep[] {
  const [version = ""] = target.versions
  return [post(collection(target, version), objectOf(target, version, `o${number}`, { policy: number }))]
}

function request(random: Random, target: Target, number: string): RequestStep {
  const version = pick(random, target.versions)
  const all = collection(target, version)
  const name = `o${number}`
  const labels = { policy: number }
  const subresources = Object.values(target.subresources).flat()
  if (subresources.length > 0 && chance(random, 0.5)) return pick(random, subresources)(`${all}/${name}`, name)
  const object = (of: string): JsonObject => objectOf(target, version, of, labels)
  const options = pick<Json | undefined>(random, [
    undefined,
    { propagationPolicy: "Foreground" },
    { gracePeriodSeconds: 5, preconditions: { uid: "x" } },
    { apiVersion: "meta.k8s.io/v1", kind: "DeleteOptions", orphanDependents: true },
  ])
  const who = pick(random, ["", "fieldManager=m", "fieldValidation=Strict"])
  return pick(random, [
    () => post(withQuery(dry(all), who), object(`n${number}`)),
    () => post(dry(all), { ...object(""), metadata: { generateName: "gen-", labels } }),
    () => put(withQuery(dry(`${all}/${name}`), who), { ...object(name), ...target.change }),
    () => patch(withQuery(dry(`${all}/${name}`), who), mergePatch, target.change),
    () => patch(dry(`${all}/${name}`), mergePatch, { ...target.change, metadata: { labels: { policy: null } } }),
    () => patch(dry(`${all}/${name}?fieldManager=m&force=true`), applyPatch, object(name)),
    () => patch(dry(`${all}/new${number}?fieldManager=m`), applyPatch, object(`new${number}`)),
    () => remove(dry(`${all}/${name}`), options),
    () => remove(withQuery(dry(all), `labelSelector=policy%3D${number}`), options),
  ])()
}

const joined = (...parts: readonly string[]): string => `[${parts.join(", ")}].join(' ')`
const messages = [
  joined(
    "request.kind.group",
    "request.kind.version",
    "request.kind.kind",
    "request.resource.version",
    "request.resource.resource",
  ),
  joined(
    "request.requestKind.group",
    "request.requestKind.version",
    "request.requestKind.kind",
    "request.requestResource.version",
  ),
  joined(
    "request.operation",
    "request.subResource",
    "request.requestSubResource",
    "request.name",
    "request.namespace",
    "string(request.dryRun)",
  ),
  "object == null ? 'none' : object.apiVersion + ' ' + object.kind",
  "oldObject == null ? 'none' : oldObject.apiVersion + ' ' + oldObject.kind",
  "object == null ? 'none' : dyn(object).map(k, string(k)).sort().join(',')",
  "has(object.spec) ? dyn(object.spec).map(k, string(k)).sort().join(',') : 'no spec'",
  "has(object.metadata) ? dyn(object.metadata).map(k, string(k)).sort().join(',') : 'no metadata'",
  "oldObject == null ? 'none' : dyn(oldObject).map(k, string(k)).sort().join(',')",
  "dyn(request.options).map(k, string(k)).sort().join(',')",
  "params == null ? 'none' : params.kind + ' ' + params.metadata.name + ' ' + string(params.spec.size)",
  "params.spec.none",
  "variables.seen",
  "string(authorizer.requestResource.check('get').allowed())",
  "namespaceObject.metadata.name + ' ' + dyn(namespaceObject.metadata).map(k, string(k)).sort().join(',')",
]

const expressions = [
  "false",
  "false",
  "false",
  "params.spec.size > 5",
  "object.spec.size > 5",
  "variables.seen == 'x'",
  "oldObject != null && false",
]
const conditions = [
  "request.kind == request.requestKind",
  "request.resource.version == 'v1'",
  "params == null || params.spec.size < 5",
  "variables.seen != 'x'",
  "request.operation != 'DELETE' || oldObject != null",
  "object != null && object.apiVersion.endsWith('v2')",
]

function ruleOf(random: Random, target: Target): JsonObject {
  const names = Object.keys(target.subresources)
  const subresource = names.length === 0 ? target.resource : `${target.resource}/${pick(random, names)}`
  const resources = pick(random, [
    [target.resource],
    [target.resource, `${target.resource}/*`],
    ["*/*"],
    ["*"],
    [subresource],
    [`*/${subresource.split("/")[1] ?? "*"}`],
  ])
  const versions = target === event ? ["v1"] : [...target.versions, ...(target === thing ? ["v3"] : [])]
  return {
    apiGroups: [
      target === event ? pick(random, ["", "events.k8s.io"]) : pick(random, [target.group, target.group, "*"]),
    ],
    apiVersions: [pick(random, [...versions, ...versions, "*"])],
    operations: [pick(random, ["*", "*", "CREATE", "UPDATE", "DELETE", "CONNECT"])],
    resources,
    ...(chance(random, 0.1) ? { scope: pick(random, ["Namespaced", "Cluster"]) } : {}),
  }
}

/** A policy and what its binding has. */
function policyOf(random: Random, target: Target, number: string): [JsonObject, JsonObject] {
  const paramKind = pick(random, [undefined, "Limit", "Bound"])
  // Connections have no labels.
  const isNamed = chance(random, 0.5)
  const rules = Array.from({ length: 1 + random(2) }, () => ruleOf(random, target))
  const named = isNamed ? rules.map((rule) => ({ ...rule, resourceNames: [`o${number}`] })) : rules
  const spec = {
    ...(paramKind === undefined ? {} : { paramKind: { apiVersion: `${paramGroup}/v1`, kind: paramKind } }),
    ...(chance(random, 0.3) ? { failurePolicy: pick(random, ["Fail", "Ignore"]) } : {}),
    matchConstraints: {
      namespaceSelector: here,
      ...(isNamed ? {} : { objectSelector: { matchLabels: { policy: number } } }),
      resourceRules: named,
      ...(chance(random, 0.3) ? { matchPolicy: "Exact" } : {}),
      ...(chance(random, 0.15) ? { excludeResourceRules: [ruleOf(random, target)] } : {}),
    },
    ...(chance(random, 0.3) ? { matchConditions: [{ name: "c", expression: pick(random, conditions) }] } : {}),
    variables: [{ name: "seen", expression: "object == null ? 'nothing' : object.apiVersion" }],
    validations: Array.from({ length: 2 + random(2) }, () => ({
      expression: pick(random, expressions),
      messageExpression: pick(random, messages),
      ...(chance(random, 0.2) ? { reason: pick(random, ["Forbidden", "Unauthorized"]) } : {}),
    })),
  }
  const paramRef = {
    ...pick<JsonObject>(random, [
      { name: "p" },
      { name: "absent" },
      { selector: { matchLabels: { param: "q" } } },
      { selector: {} },
      { selector: { matchExpressions: [{ key: "param", operator: "NotIn", values: ["p", "q"] }] } },
      ...(paramKind === "Limit"
        ? [
            { name: "p", namespace: "@{ns}" },
            { name: "p", namespace: "default" },
          ]
        : [{ name: "p", namespace: "default" }]),
    ]),
    parameterNotFoundAction: pick(random, ["Allow", "Deny"]),
  }
  return [
    spec,
    {
      ...(paramKind !== undefined && chance(random, 0.9) ? { paramRef } : {}),
      validationActions: pick(random, [["Warn"], ["Warn"], ["Deny"], ["Deny", "Audit"]]),
    },
  ]
}

function inForce(number: string, spec: JsonObject, binding: JsonObject): RequestStep[] {
  const name = `k${number}-@{id}`
  return [
    post(`${policies}/validatingadmissionpolicies`, { metadata: { name }, spec }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"], ...binding },
    }),
  ]
}
