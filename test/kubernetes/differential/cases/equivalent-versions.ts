// Objects that are served in several versions: what a write through one keeps of the others, and which policies see it.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

type Body = Record<string, Json>

const space = "/namespaces/@{ns}"
const secrets = `/api/v1${space}/secrets`
const first = `/apis/autoscaling/v1${space}/horizontalpodautoscalers`
const second = `/apis/autoscaling/v2${space}/horizontalpodautoscalers`
const events = `/apis/events.k8s.io/v1${space}/events`
const coreEvents = `/api/v1${space}/events`

export function equivalentVersionCases(): Scenario[] {
  return [
    { name: "the status of an autoscaler is kept by writes in another version", steps: keptStatus() },
    ...Object.entries(policies).map(([name, policy]) => ({
      name: `a policy matches equivalent versions: ${name}`,
      steps: matched(policy),
    })),
  ]
}

const scaled: Body = { scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, maxReplicas: 3 }
const cpu: Body = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
}
const external: Body = { type: "External", external: { metric: { name: "m" }, target: { type: "Value", value: "1" } } }

function keptStatus(): RequestStep[] {
  const described = { describedObject: { kind: "a", name: "b" }, metric: { name: "m" } }
  const currentMetrics: Json = [
    { type: "External", external: { metric: { name: "m" }, current: {} } },
    { type: "External", external: { metric: { name: "m" }, current: { averageValue: "2" } } },
    { type: "Object", object: { ...described, current: { averageValue: "1" } } },
    { type: "Pods", pods: { metric: { name: "n" }, current: {} } },
    { type: "Resource", resource: { name: "cpu", current: {} } },
    {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "c", current: { averageUtilization: 3 } },
    },
  ]
  const reads = [get(`${first}/a`), get(`${second}/a`)]
  return [
    post(`${second}?fieldManager=a`, { metadata: { name: "a" }, spec: { ...scaled, metrics: [cpu, external] } }),
    patch(`${second}/a/status?fieldManager=b`, mergePatch, { status: { currentReplicas: 1, currentMetrics } }),
    ...reads,
    patch(`${first}/a?fieldManager=c`, mergePatch, { metadata: { labels: { a: "b" } } }, { label: "labelled" }),
    ...reads,
    put(`${first}/a?fieldManager=d`, { metadata: { name: "a" }, spec: scaled }, { label: "replaced" }),
    ...reads,
    patch(`${second}/a?fieldManager=e`, mergePatch, { spec: { metrics: [cpu, external] } }, { label: "ordered" }),
    patch(`${first}/a/status?fieldManager=f`, mergePatch, { status: { currentReplicas: 2 } }, { label: "reported" }),
    ...reads,
  ]
}

interface Policy {
  constraints: Body
  narrowed?: Body
}

const rule = (group: string, version: string, resources: string[]): Body => ({
  apiGroups: [group],
  apiVersions: [version],
  operations: ["*"],
  resources,
})
const scalers = ["horizontalpodautoscalers"]

const policies: Readonly<Record<string, Policy>> = {
  second: { constraints: { resourceRules: [rule("autoscaling", "v2", scalers)] } },
  first: { constraints: { resourceRules: [rule("autoscaling", "v1", scalers)] } },
  exactly: { constraints: { matchPolicy: "Exact", resourceRules: [rule("autoscaling", "v2", scalers)] } },
  status: { constraints: { resourceRules: [rule("autoscaling", "v2", ["horizontalpodautoscalers/status"])] } },
  excluded: {
    constraints: {
      // The namespace selector does not limit objects of the cluster, which other scenarios write.
      resourceRules: [{ ...rule("*", "*", ["*"]), scope: "Namespaced" }],
      excludeResourceRules: [rule("", "v1", ["events"])],
    },
  },
  events: { constraints: { resourceRules: [rule("events.k8s.io", "v1", ["events"])] } },
  narrowed: {
    constraints: { resourceRules: [rule("autoscaling", "v2", scalers)] },
    narrowed: { resourceRules: [rule("autoscaling", "v1", ["*"])] },
  },
}

/** All that it matches is refused, with what it saw. Names of managers are in the order of their writes, which may share a second. */
function matched({ constraints, narrowed }: Policy): RequestStep[] {
  const { resourceRules = [] } = constraints
  const name = "p-@{id}"
  const seen = [
    "request.resource.group + '/' + request.resource.version",
    "request.kind.group + '/' + request.kind.version",
    "request.requestKind.version",
    "(oldObject == null || !has(oldObject.spec.metrics) ? '' : oldObject.spec.metrics.map(m, m.type).join())",
    "(object == null || !has(object.spec.metrics) ? '' : object.spec.metrics.map(m, m.type).join())",
  ].join(" + ' ' + ")
  const registrations = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
  return [
    post(`${second}?fieldManager=a`, { metadata: { name: "a" }, spec: { ...scaled, metrics: [cpu, external] } }),
    post(`${coreEvents}?fieldManager=a`, { metadata: { name: "e" }, involvedObject: { namespace: "@{ns}" } }),
    post(`${registrations}ies`, {
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
          ...constraints,
          resourceRules: [...(resourceRules as Json[]), rule("", "v1", ["secrets"])],
        },
        validations: [
          { expression: "false", messageExpression: `request.resource.resource == 'secrets' ? 'ready' : ${seen}` },
        ],
      },
    }),
    post(`${registrations}ybindings`, {
      metadata: { name },
      spec: {
        policyName: name,
        validationActions: ["Deny"],
        ...(narrowed === undefined
          ? {}
          : {
              matchResources: {
                resourceRules: [...(narrowed["resourceRules"] as Json[]), rule("", "v1", ["secrets"])],
              },
            }),
      },
    }),
    post(`${secrets}?dryRun=All`, { metadata: { name: "ready" } }, { untilCode: 422 }),
    ...[first, second].flatMap((scaler) => [
      post(`${scaler}?dryRun=All`, { metadata: { name: "b" }, spec: scaled }),
      patch(`${scaler}/a?dryRun=All&fieldManager=b`, mergePatch, { metadata: { labels: { a: "b" } } }),
      patch(`${scaler}/a/status?dryRun=All&fieldManager=b`, mergePatch, { status: { currentReplicas: 3 } }),
      remove(`${scaler}/a?dryRun=All`),
    ]),
    ...[events, coreEvents].flatMap((event) => [
      patch(`${event}/e?dryRun=All&fieldManager=b`, mergePatch, { metadata: { labels: { a: "b" } } }),
      remove(`${event}/e?dryRun=All`),
    ]),
    remove(`${registrations}ybindings/${name}`),
    remove(`${registrations}ies/${name}`),
  ]
}
