// Random policies that are in force: what they match, with which parameters, and what becomes of a verdict. Each is about objects of
// its own, which are there before it.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { mergePatch, patch, post, put, remove, type RequestStep, type Scenario, withQuery } from "../scenario.ts"
import { titled } from "./titled.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"
const count = 8
const requestCount = 5

export function randomPolicyMatchScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const numbers = Array.from({ length: count }, (_, number) => String(number))
  const params = ["p", "q"].map((name) =>
    post(`${core}/limitranges`, { metadata: { name, labels: { param: name } }, spec: { limits: [] } }),
  )
  const steps = [
    ...params,
    ...numbers.flatMap((number) => resources.map((resource) => post(`${core}/${resource}`, objectOf(number)))),
    ...numbers.flatMap((number) => inForce(number, ...policyOf(random, number))),
    ...inForce(
      "last",
      { matchConstraints: matched({}, "last"), validations: [{ expression: "false", message: "all are in force" }] },
      {},
    ),
    post(`${core}/configmaps?dryRun=All`, objectOf("last"), { untilText: "all are in force" }),
    ...numbers.flatMap((number) => Array.from({ length: requestCount }, () => request(random, number))),
  ]
  return { name: `matches of policies at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

const resources = ["configmaps", "resourcequotas"] as const

function objectOf(policy: string, more: JsonObject = {}): JsonObject {
  return { metadata: { name: `o${policy}`, labels: { policy, ...more } } }
}

function request(random: Random, policy: string): RequestStep {
  const resource = pick(random, resources)
  const object = objectOf(policy, chance(random, 0.4) ? { a: pick(random, ["1", "2"]) } : {})
  const at = `${core}/${resource}/o${policy}`
  const dry = (path: string): string => withQuery(path, "dryRun=All")
  return pick(random, [
    () =>
      post(dry(`${core}/${resource}`), {
        ...object,
        metadata: { ...(object["metadata"] as JsonObject), name: `n${policy}` },
      }),
    () => post(dry(`${core}/${resource}`), { ...object, metadata: { labels: { policy }, generateName: "gen-" } }),
    () => put(dry(at), object),
    () => patch(dry(at), mergePatch, { metadata: { labels: { a: pick(random, ["1", "2", null]) } } }),
    () => patch(dry(at), mergePatch, { metadata: { labels: { policy: "other" } } }),
    () => remove(dry(at)),
    () => remove(withQuery(dry(`${core}/${resource}`), `labelSelector=policy%3D${policy}`)),
    () =>
      patch(dry(`${core}/resourcequotas/o${policy}/status`), mergePatch, {
        status: { hard: {} },
        metadata: { labels: { a: "1" } },
      }),
  ])()
}

function some(random: Random, from: readonly string[]): string[] {
  const chosen = from.filter(() => chance(random, 0.4))
  return chosen.length === 0 ? [pick(random, from)] : chosen
}

function rule(random: Random): JsonObject {
  return {
    apiGroups: [pick(random, ["", "", "", "*", "apps"])],
    apiVersions: [pick(random, ["v1", "v1", "*", "v2"])],
    operations: chance(random, 0.3) ? ["*"] : some(random, ["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    resources: chance(random, 0.3)
      ? [pick(random, ["*", "*/*", "resourcequotas/*", "*/status"])]
      : some(random, ["configmaps", "resourcequotas", "resourcequotas/status"]),
    ...(chance(random, 0.3) ? { scope: pick(random, ["*", "Namespaced", "Cluster"]) } : {}),
    ...(chance(random, 0.15) ? { resourceNames: [pick(random, ["o1", "n1", "o2", "absent"])] } : {}),
  }
}

/** In this namespace, and of the objects of this policy, at least if they are selected by their labels. */
function matched(more: JsonObject, policy: string, expressions: Json[] = []): JsonObject {
  return {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
    objectSelector: { matchLabels: { policy }, matchExpressions: expressions },
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
    ...more,
  }
}

const byLabel = (random: Random): Json =>
  pick<Json>(random, [
    { key: "a", operator: "Exists" },
    { key: "a", operator: "DoesNotExist" },
    { key: "a", operator: "In", values: ["1"] },
    { key: "a", operator: "NotIn", values: ["1"] },
  ])

const conditions = [
  "true",
  "false",
  "object.bogus == 1",
  "request.operation != 'UPDATE'",
  "object == null",
  "oldObject != null && has(oldObject.metadata.labels.a)",
  "1 / 0 == 0",
  "params != null",
]
const expressions = [
  "false",
  "false",
  "object.bogus == 1",
  "object == null",
  "request.dryRun == false",
  "has(object.metadata.labels.a)",
  "params == null",
  "params.metadata.name == 'p'",
  "variables.n > 1",
  "variables.fails == 1",
  "authorizer.requestResource.check('get').allowed() && false",
  "request.subResource != ''",
  "1 / 0 == 0 || true",
]
const messages = [
  "'m: ' + request.operation + ' ' + request.resource.resource + '/' + request.subResource",
  "params.metadata.name",
  "string(object.bogus)",
  "'a\\nb'",
  "''",
  "string(variables.n) + ' ' + request.name",
  "' ' + namespaceObject.metadata.name + ' '",
  "request.userInfo.groups.join(',')",
]

/** A policy and what its binding has. */
function policyOf(random: Random, policy: string): [JsonObject, JsonObject] {
  const hasParams = chance(random, 0.4)
  const validations = Array.from({ length: 1 + random(3) }, () => ({
    expression: pick(random, expressions),
    ...(chance(random, 0.3) ? { message: pick(random, ["no", " trimmed? "]) } : {}),
    ...(chance(random, 0.5) ? { messageExpression: pick(random, messages) } : {}),
    ...(chance(random, 0.3) ? { reason: pick(random, ["Invalid", "Forbidden", "RequestEntityTooLarge"]) } : {}),
  }))
  const spec = {
    ...(hasParams ? { paramKind: { apiVersion: "v1", kind: "LimitRange" } } : {}),
    ...(chance(random, 0.5) ? { failurePolicy: pick(random, ["Fail", "Ignore"]) } : {}),
    matchConstraints: matched(
      {
        resourceRules: Array.from({ length: 1 + random(2) }, () => rule(random)),
        ...(chance(random, 0.25) ? { excludeResourceRules: [rule(random)] } : {}),
        ...(chance(random, 0.3) ? { matchPolicy: pick(random, ["Exact", "Equivalent"]) } : {}),
      },
      policy,
      chance(random, 0.3) ? [byLabel(random)] : [],
    ),
    matchConditions: ["c", "d"].slice(0, random(3)).map((name) => ({ name, expression: pick(random, conditions) })),
    variables: [
      { name: "n", expression: "size(request.name)" },
      { name: "fails", expression: "int(request.operation)" },
    ],
    validations,
    auditAnnotations: chance(random, 0.2)
      ? [{ key: "k", valueExpression: pick(random, ["'v'", "string(object.bogus)", "null", "string(variables.n)"]) }]
      : [],
  }
  const paramRef = {
    ...pick<JsonObject>(random, [
      { name: "p" },
      { name: "absent" },
      { selector: { matchLabels: { param: "q" } } },
      { selector: { matchLabels: { param: "absent" } } },
      { name: "p", namespace: "@{ns}" },
      { name: "p", namespace: "default" },
    ]),
    parameterNotFoundAction: pick(random, ["Allow", "Deny"]),
  }
  const binding = {
    ...(hasParams && chance(random, 0.9) ? { paramRef } : {}),
    validationActions: pick(random, [["Deny"], ["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Warn", "Audit"]]),
    ...(chance(random, 0.3)
      ? {
          matchResources: {
            resourceRules: [rule(random)],
            objectSelector: chance(random, 0.5) ? { matchExpressions: [byLabel(random)] } : {},
          },
        }
      : {}),
  }
  return [spec, binding]
}

function inForce(number: string, spec: JsonObject, binding: JsonObject): RequestStep[] {
  const name = `m${number}-@{id}`
  return [
    post(`${policies}/validatingadmissionpolicies`, { metadata: { name }, spec }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"], ...binding },
    }),
  ]
}
