// Evictions that a budget allows once, that more than one budget is for, and whose options are found wrong too late.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const pods = "/api/v1/namespaces/@{ns}/pods"
const budgets = "/apis/policy/v1/namespaces/@{ns}/poddisruptionbudgets"

export function evictionCases(): Scenario[] {
  return [
    { name: "the last allowed disruption of a budget", anyOrder: true, steps: lastOnes() },
    { name: "a pod that two budgets are for is not evicted", steps: twoBudgets() },
    { name: "a pod that is not ready is evicted beside its budget", steps: notReady() },
    { name: "evictions have two versions", steps: versions() },
    { name: "a pod is marked before the options of its eviction are looked at", steps: wrongOptions() },
    { name: "a pod is evicted on conditions that are empty", steps: emptyPreconditions() },
    { name: "a policy is asked about an eviction and its budget", steps: admitted() },
  ]
}

function pod(name: string, ready: "True" | "False"): RequestStep[] {
  return [
    post(pods, {
      metadata: { name, labels: { app: "a" } },
      spec: { nodeName: "node", containers: [{ name: "main", image: "busybox" }] },
    }),
    patch(`${pods}/${name}/status`, mergePatch, {
      status: { phase: "Running", conditions: [{ type: "Ready", status: ready }] },
    }),
  ]
}

const budget = (name: string, spec: { [key: string]: Json } = {}): RequestStep =>
  post(
    budgets,
    { metadata: { name }, spec: { selector: { matchLabels: { app: "a" } }, minAvailable: 1, ...spec } },
    { save: "budget" },
  )

const allows = (name: string, status: { [key: string]: Json }): RequestStep =>
  put(`${budgets}/${name}/status`, {
    metadata: { name, resourceVersion: "@{budget.metadata.resourceVersion}" },
    status: { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1, ...status },
  })

const evict = (name: string, deleteOptions: Json = {}, query = ""): RequestStep =>
  post(
    `${pods}/${name}/eviction${query}`,
    { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, deleteOptions },
    { label: `EVICT ${name} ${JSON.stringify(deleteOptions)}${query}` },
  )

function versions(): RequestStep[] {
  return ["policy/v1beta1", "policy/v1", "policy/v1alpha1", "v1"].flatMap((apiVersion, index) => {
    const name = `v${index}`
    const body = (more: { [key: string]: Json } = {}): Json => ({
      apiVersion,
      kind: "Eviction",
      metadata: { name },
      ...more,
    })
    const path = `${pods}/${name}/eviction`
    return [
      ...pod(name, "True"),
      post(`${path}?fieldValidation=Strict`, body({ bogus: 1 }), { label: `EVICT strictly by ${apiVersion}` }),
      post(`${path}?dryRun=All`, body({ bogus: 1 }), { label: `EVICT dry by ${apiVersion}` }),
      post(path, body({ deleteOptions: { gracePeriodSeconds: 5 } }), { label: `EVICT by ${apiVersion}` }),
      get(`${pods}/${name}`),
    ]
  })
}

function lastOnes(): RequestStep[] {
  const known = {
    type: "DisruptionAllowed",
    status: "False",
    reason: "Because",
    message: "so",
    lastTransitionTime: "2024-01-02T03:04:05Z",
  }
  return ["a", "b", "c"].flatMap((name, index) => [
    ...pod(name, "True"),
    ...(index === 0 ? [budget("x")] : [get(`${budgets}/x`, { save: "budget", label: `GET budget of ${name}` })]),
    allows("x", { disruptionsAllowed: 1, ...(index === 1 ? { conditions: [known] } : {}) }),
    evict(name, {}, "?dryRun=All"),
    evict(name),
    get(`${budgets}/x`, { label: `GET budget after ${name}` }),
  ])
}

function twoBudgets(): RequestStep[] {
  return [...pod("a", "True"), budget("x"), budget("y"), evict("a"), evict("a", { preconditions: { uid: "other" } })]
}

function notReady(): RequestStep[] {
  const other = { preconditions: { uid: "other" } }
  return [
    ...pod("a", "False"),
    budget("x"),
    evict("a"),
    allows("x", { disruptionsAllowed: 0 }),
    evict("a", other),
    evict("a", other, "?dryRun=All"),
    evict("a", { preconditions: { resourceVersion: "1" } }),
    evict("a", {}, "?dryRun=All"),
    evict("a"),
    get(`${budgets}/x`),
  ]
}

function wrongOptions(): RequestStep[] {
  const options: Json[] = [
    { propagationPolicy: "Bogus" },
    { propagationPolicy: "Orphan", orphanDependents: true },
    { preconditions: { uid: "other" } },
    { propagationPolicy: "Bogus", preconditions: { uid: "other" } },
  ]
  return options.flatMap((deleteOptions, index) => [
    ...pod(`p${index}`, "True"),
    evict(`p${index}`, deleteOptions, "?dryRun=All"),
    get(`${pods}/p${index}`, { label: `GET ${index} after the dry run` }),
    evict(`p${index}`, deleteOptions),
    get(`${pods}/p${index}`, { label: `GET ${index}` }),
  ])
}

function emptyPreconditions(): RequestStep[] {
  const preconditions: Json[] = [{ resourceVersion: "" }, { uid: "" }, { uid: "", resourceVersion: "" }]
  return preconditions.flatMap((given, index) => [
    ...pod(`e${index}`, "True"),
    evict(`e${index}`, { preconditions: given }, "?dryRun=All"),
    evict(`e${index}`, { preconditions: given }),
    get(`${pods}/e${index}`),
  ])
}

function admitted(): RequestStep[] {
  const admission = "/apis/admissionregistration.k8s.io/v1"
  const name = "evictions-@{id}"
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  const asked = "request.userInfo.username + ' ' + request.name + ' ' + string(request.dryRun)"
  const options = "object.?deleteOptions.?dryRun.hasValue()"
  return [
    post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
          resourceRules: [
            {
              apiGroups: ["policy"],
              apiVersions: ["v1"],
              resources: ["poddisruptionbudgets/status"],
              operations: ["UPDATE"],
            },
            {
              apiGroups: [""],
              apiVersions: ["v1"],
              resources: ["configmaps", "pods/eviction"],
              operations: ["CREATE"],
            },
          ],
        },
        validations: [
          {
            expression: "request.resource.resource != 'configmaps' && request.userInfo.username != 'system:apiserver'",
            messageExpression: `request.resource.resource == 'configmaps' ? 'a map' : ${asked}`,
          },
          { expression: `object.metadata.name != 'told' || !(${options})`, messageExpression: `'told ' + ${asked}` },
        ],
      },
    }),
    post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    }),
    post(`${maps}?dryRun=All`, { metadata: { name: "probe" } }, { untilCode: 422 }),
    ...pod("a", "True"),
    budget("b"),
    patch(`${budgets}/b/status`, mergePatch, {
      status: { currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1, disruptionsAllowed: 2 },
    }),
    evict("a", {}, "?dryRun=All"),
    evict("a"),
    get(`${budgets}/b`),
    ...["{}", '{"gracePeriodSeconds":3}', '{"dryRun":["All"]}'].flatMap((text) =>
      ["", "?dryRun=All"].map((query) => evict("told", JSON.parse(text) as Json, query)),
    ),
    remove(`${admission}/validatingadmissionpolicybindings/${name}`),
    remove(`${admission}/validatingadmissionpolicies/${name}`),
  ]
}
