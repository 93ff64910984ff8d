// Policies that change the name of an object: of one that is created at its name, and of others.

import { applyPatch, get, mergePatch, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"

export function policyNameCases(): Scenario[] {
  return [
    { name: "a policy changes the names of objects", steps: [...inForce, ...created()] },
    { name: "a policy changes the names of objects that are posted, or to none", steps: [...inForce, ...posted()] },
  ]
}

const name = "rename-@{id}"
const matchConstraints = {
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
  objectSelector: { matchExpressions: [{ key: "to", operator: "Exists" }] },
  resourceRules: [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["configmaps"] },
    {
      apiGroups: ["coordination.k8s.io"],
      apiVersions: ["v1"],
      operations: ["CREATE", "UPDATE"],
      resources: ["leases"],
    },
  ],
}
const expression = "[JSONPatch{op: 'replace', path: '/metadata/name', value: object.metadata.labels['to']}]"
const spec = {
  reinvocationPolicy: "Never",
  matchConstraints,
  mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }],
}

const map = (own: string, to: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: own, labels: { to } },
  data: { a: "b" },
})

const generated = (own: string) => {
  const { metadata, ...rest } = map(own, "")
  return { ...rest, metadata: { ...metadata, generateName: "gen-" } }
}

const inForce: readonly RequestStep[] = [
  post(`${policies}/mutatingadmissionpolicies`, { metadata: { name }, spec }),
  post(`${policies}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }),
  post(`${maps}?dryRun=All`, map("x", "y"), { untilText: '"name":"y"' }),
]

/** By requests for a name. */
function created(): RequestStep[] {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a", labels: { to: "b" } } }
  return [
    patch(`${maps}/a?fieldManager=m&dryRun=All`, applyPatch, map("a", "b")),
    patch(`${maps}/a?fieldManager=m`, applyPatch, map("a", "b")),
    ...["a", "b"].map((each) => get(`${maps}/${each}`)),
    get(maps),
    put(`${leases}/a`, lease),
    ...["a", "b"].map((each) => get(`${leases}/${each}`)),
  ]
}

function posted(): RequestStep[] {
  return [
    post(maps, map("c", "d")),
    post(maps, map("c", "d")),
    get(`${maps}/d`),
    patch(`${maps}/f?fieldManager=m`, applyPatch, map("f", "")),
    patch(`${maps}/g?fieldManager=m`, applyPatch, map("g", "B.c")),
    post(maps, { metadata: { name: "h" } }),
    patch(`${maps}/h?fieldManager=m`, mergePatch, { metadata: { labels: { to: "i" } } }),
    patch(`${maps}/h?fieldManager=m`, mergePatch, { metadata: { labels: { to: "h" } } }),
    patch(`${maps}/h?fieldManager=m`, mergePatch, { metadata: { labels: { to: "" } } }, { label: "PATCH to none" }),
    put(`${maps}/h`, map("h", ""), { label: "PUT to none" }),
    patch(`${maps}/j?fieldManager=m`, applyPatch, generated("j"), { label: "APPLY to none, with a prefix" }),
    patch(`${maps}/j?fieldManager=m&dryRun=All`, applyPatch, generated("j"), { label: "APPLY dry to none" }),
    post(maps, { ...generated("k"), kind: "ConfigMap" }, { label: "POST to none, with a prefix" }),
    get(maps),
  ]
}
