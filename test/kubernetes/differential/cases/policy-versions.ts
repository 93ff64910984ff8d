// Policies that mutate objects in another version than that of the request, which upstream can do to custom resources alone.

import { mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const autoscalers = (version: string): string =>
  `/apis/autoscaling/${version}/namespaces/@{ns}/horizontalpodautoscalers`
const events = ["/api/v1", "/apis/events.k8s.io/v1"].map((api) => `${api}/namespaces/@{ns}/events`)

const applied = {
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression: "Object{metadata: Object.metadata{annotations: {'seen': object.apiVersion}}}" },
}
const added = "JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': object.apiVersion}}"
const patched = (operations: string): object => ({ patchType: "JSONPatch", jsonPatch: { expression: operations } })

const mutations: Readonly<Record<string, readonly object[]>> = {
  "by a configuration": [applied],
  "by a patch": [patched(`[${added}]`)],
  "by two": [patched(`[${added}]`), applied],
  "by an empty configuration": [
    applied,
    { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } },
  ],
  "by no operation": [patched(`[${added}]`), patched(`[${added}].filter(each, object.kind == 'None')`)],
  "by a test that fails": [patched(`[${added}]`), patched("[JSONPatch{op: 'test', path: '/kind', value: 'None'}]")],
  "with an error": [applied, patched("[JSONPatch{op: 'test', path: object.none, value: 'None'}]")],
}

export function policyVersionCases(): Scenario[] {
  return [
    ...Object.entries(mutations).flatMap(([how, made]) =>
      ["v1", "v2"].flatMap((version) =>
        ["Fail", "Ignore"].map((failurePolicy) => ({
          name: `a policy of version ${version} mutates ${how}, ${failurePolicy}`,
          steps: ofAutoscalers(version, made, failurePolicy),
        })),
      ),
    ),
    ...["", "events.k8s.io"].map((group) => ({
      name: `a policy mutates events of group ${JSON.stringify(group)}`,
      steps: ofEvents(group),
    })),
    { name: "policies of two versions mutate a custom resource", steps: ofThings() },
  ]
}

function ofAutoscalers(version: string, made: readonly object[], failurePolicy: string): RequestStep[] {
  const scaler = (name: string, maxReplicas = 3) => ({
    metadata: { name },
    spec: { maxReplicas, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
  })
  return [
    ...policy({ apiGroups: ["autoscaling"], apiVersions: [version], resources: ["*"] }, made, failurePolicy),
    post(`${autoscalers(version)}?dryRun=All`, scaler("a"), { untilText: ["seen", "resulted in error"] }),
    ...["v1", "v2"].flatMap((asked) => [
      post(autoscalers(asked), scaler(asked)),
      put(`${autoscalers(asked)}/${asked}`, scaler(asked, 4)),
      patch(`${autoscalers(asked)}/${asked}`, mergePatch, {
        metadata: { annotations: null },
        spec: { maxReplicas: 5 },
      }),
    ]),
  ]
}

function ofEvents(group: string): RequestStep[] {
  const about = { namespace: "@{ns}", kind: "Pod", name: "p" }
  const reporting = { reportingController: "a.b/c", reportingInstance: "i", action: "a", type: "Normal", reason: "r" }
  const newer = { ...reporting, regarding: about, eventTime: "2024-01-01T00:00:00.000000Z" }
  const both = events.map((path, index) => ({
    path,
    event: (name: string) => ({ metadata: { name }, ...(index === 0 ? { involvedObject: about } : newer) }),
  }))
  const own = both[group === "" ? 0 : 1]
  return [
    ...policy({ apiGroups: [group], apiVersions: ["v1"], resources: ["events"] }, [applied], "Fail"),
    ...(own === undefined ? [] : [post(`${own.path}?dryRun=All`, own.event("a"), { untilText: "seen" })]),
    ...both.map(({ path, event }, index) => post(path, event(`e${index}`))),
  ]
}

/** One object that both mutate, and one that the second does. */
function ofThings(): RequestStep[] {
  const group = "r@{id}.example.com"
  const schema = { openAPIV3Schema: { type: "object" } }
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema }))
  const path = `/apis/${group}/v1/namespaces/@{ns}/things`
  const thing = (name: string): object => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name } })
  const annotating = (name: string): string =>
    `Object{metadata: Object.metadata{annotations: {'${name}': object.apiVersion}}}`
  return [
    post(definitions, definitionOf(group, {}, {}, { versions }) as never),
    ...["v2", "v1"].flatMap((version) => {
      const rule = { apiGroups: [group], apiVersions: [version], resources: ["things"] }
      const made = { patchType: "ApplyConfiguration", applyConfiguration: { expression: annotating(version) } }
      return [
        ...policy(rule, [made], "Fail", `p${version}-@{id}`),
        post(`${path}?dryRun=All`, thing("a") as never, {
          untilText: `"${version}":"`,
          label: `POST until ${version}`,
        }),
      ]
    }),
    post(path, thing("a") as never),
    patch(`${path}/a`, mergePatch, { metadata: { annotations: null } }),
  ]
}

function policy(rule: object, made: readonly object[], failurePolicy: string, name = "p-@{id}"): RequestStep[] {
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
    resourceRules: [{ operations: ["CREATE", "UPDATE"], ...rule }],
  }
  const spec = { matchConstraints, reinvocationPolicy: "Never", failurePolicy, mutations: made }
  return [
    post(`${policies}/mutatingadmissionpolicies`, { metadata: { name }, spec } as never),
    post(`${policies}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }),
  ]
}
