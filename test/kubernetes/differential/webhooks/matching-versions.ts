// Which version of an object a webhook is called with, and its conditions see.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep } from "../scenario.ts"
import { answer, type RegisteredHook, rule, space, type WebhookScenario } from "./scenario.ts"
import { within } from "./matching.ts"

export function versionMatchingScenarios(): WebhookScenario[] {
  return [
    ...["Exact", "Equivalent"].map((matchPolicy) => ({
      name: `other versions match: ${matchPolicy}`,
      hooks: versioned(matchPolicy),
      steps: autoscalers(),
    })),
    { name: "events of both groups are equivalent", hooks: ofEvents(), steps: events() },
    { name: "custom resources match in other versions", hooks: customVersions(), steps: customSteps() },
    { name: "conditions see the version of the rule", hooks: conditionsOfVersions(), steps: autoscalers() },
  ]
}

function versioned(matchPolicy: string): RegisteredHook[] {
  const of = (version: string, resources: string | string[], more: Loose = {}): Loose => ({
    rules: [rule(resources, { apiGroups: ["autoscaling"], apiVersions: [version] })],
    matchPolicy,
    ...more,
  })
  return [
    { kind: "Mutating", webhook: of("v1", "*") },
    { kind: "Mutating", webhook: of("v2", ["horizontalpodautoscalers/status", "horizontalpodautoscalers"]) },
    { webhook: of("v1", "horizontalpodautoscalers/*") },
    { webhook: of("v2", "*/*", { matchConditions: [{ name: "a", expression: "object.spec.maxReplicas > 1" }] }) },
    {
      webhook: of("v1", "*", {
        matchConditions: [
          { name: "a", expression: 'request.kind.version == "v1" && has(object.spec.targetCPUUtilizationPercentage)' },
        ],
      }),
    },
    {
      webhook: {
        matchPolicy,
        rules: [
          rule("horizontalpodautoscalers", { apiGroups: ["autoscaling"], apiVersions: ["v3", "v2"] }),
          rule("horizontalpodautoscalers", { apiGroups: ["autoscaling"], apiVersions: ["v1"] }),
        ],
      },
    },
  ]
}

function conditionsOfVersions(): RegisteredHook[] {
  const expressions = [
    'request.kind.version == "v1"',
    'request.resource.version == "v1"',
    'request.requestKind.version == "v1"',
    'request.requestResource.version == "v1"',
    'object.apiVersion == "autoscaling/v1"',
    'oldObject != null && oldObject.apiVersion == "autoscaling/v1"',
    "has(object.spec.targetCPUUtilizationPercentage)",
  ]
  return (["Mutating", "Validating"] as const).flatMap((kind) =>
    expressions.map((expression) => ({
      kind,
      webhook: {
        failurePolicy: "Ignore",
        rules: [rule("*/*", { apiGroups: ["autoscaling"], apiVersions: ["v1"] })],
        matchConditions: [{ name: "a", expression }],
      },
    })),
  )
}

function autoscalers(): RequestStep[] {
  const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" }
  const metrics = [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
    { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
  ]
  return [
    post(at("v2"), { metadata: { name: "a" }, spec: { maxReplicas: 3, scaleTargetRef, metrics } }),
    patch(`${at("v1")}/a`, mergePatch, { spec: { maxReplicas: 4 } }),
    patch(`${at("v2")}/a/status`, mergePatch, { status: { currentReplicas: 1, desiredReplicas: 2 } }),
    post(at("v1"), { metadata: { name: "b" }, spec: { maxReplicas: 1, scaleTargetRef } }),
    patch(`${at("v2")}/c?fieldManager=m`, applyPatch, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "c" },
      spec: { maxReplicas: 3, scaleTargetRef, metrics },
    }),
    remove(`${at("v1")}/a`),
    remove(at("v2")),
  ]
}

function ofEvents(): RegisteredHook[] {
  return ["", "events.k8s.io"].map((group) => ({
    webhook: { ...within, rules: [rule("events", { apiGroups: [group], apiVersions: ["v1"] })] },
  }))
}

function events(): RequestStep[] {
  return [
    post(`${space}/events`, {
      metadata: { name: "a" },
      involvedObject: { kind: "Pod", namespace: "@{ns}", name: "p" },
      message: "m",
      count: 2,
    }),
    post("/apis/events.k8s.io/v1/namespaces/@{ns}/events", {
      metadata: { name: "b" },
      eventTime: "2020-01-01T00:00:00.000000Z",
      regarding: { kind: "Pod", namespace: "@{ns}", name: "p" },
      reportingController: "c",
      reportingInstance: "i",
      action: "a",
      reason: "r",
      type: "Normal",
      note: "n",
    }),
    patch("/apis/events.k8s.io/v1/namespaces/@{ns}/events/a", mergePatch, { note: "other" }),
    remove(`${space}/events/b`),
  ]
}

const customGroup = "m@{id}.example.com"

function customVersions(): RegisteredHook[] {
  const of = (version: string, more: Loose = {}): Loose => ({
    rules: [rule(["things", "things/status"], { apiGroups: [customGroup], apiVersions: [version] })],
    ...more,
  })
  const patched = Buffer.from(JSON.stringify([{ op: "add", path: "/spec/tag", value: "v2" }])).toString("base64")
  return [
    { kind: "Mutating", webhook: of("v1") },
    { kind: "Mutating", webhook: of("v2"), reply: answer({ patchType: "JSONPatch", patch: patched }) },
    { kind: "Mutating", webhook: of("v1") },
    { webhook: of("v1") },
    { webhook: of("v2") },
    { webhook: of("v3") },
    { webhook: of("v2", { matchPolicy: "Exact" }) },
  ]
}

function customSteps(): RequestStep[] {
  const version = (name: string, properties: object): object => ({
    name,
    served: name !== "v3",
    storage: name === "v1",
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties },
          status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    },
  })
  const text = { type: "string" }
  const versions = [
    version("v1", { tag: text, only: text, size: { type: "integer", default: 1 } }),
    version("v2", { tag: text, size: { type: "integer", default: 2 }, weight: { type: "integer", default: 7 } }),
    version("v3", { tag: text }),
  ]
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const at = (name: string): string => `/apis/${customGroup}/${name}/namespaces/@{ns}/things`
  const thing = (name: string, of: string, spec: object): Json =>
    ({ apiVersion: `${customGroup}/${of}`, kind: "Thing", metadata: { name }, spec }) as Json
  return [
    post(definitions, {
      metadata: { name: `things.${customGroup}` },
      spec: { group: customGroup, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
    } as Json),
    get(at("v1"), { untilCode: 200 }),
    get(at("v2"), { untilCode: 200 }),
    post(at("v1"), thing("a", "v1", { only: "x" })),
    post(at("v2"), thing("b", "v2", { tag: "t" })),
    put(`${at("v2")}/a`, thing("a", "v2", { tag: "t" })),
    patch(`${at("v2")}/a/status`, mergePatch, { status: { ok: true } }),
    remove(`${at("v1")}/b`),
    remove(at("v2")),
    remove(`${definitions}/things.${customGroup}`),
  ]
}
