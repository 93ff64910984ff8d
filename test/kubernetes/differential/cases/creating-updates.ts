// Updates and applies that create an object, by users who may write objects but not create them.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, patch, post, put, type RequestStep, type Scenario } from "../scenario.ts"

const rbac = "/apis/rbac.authorization.k8s.io"
const core = "/api/v1/namespaces/@{ns}"
const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
const writer = { as: { name: "writer-@{id}" } }
const dry = "dryRun=All"

export function creatingUpdateCases(): Scenario[] {
  return [
    {
      name: "an update that creates needs the right to create",
      steps: [
        ...mayWrite(),
        put(`${leases}/a`, named("a"), writer),
        put(`${leases}/a?${dry}`, named("a"), writer),
        put(`${leases}/a`, { ...named("a"), spec: { leaseDurationSeconds: -1 } }, { ...writer, label: "PUT invalid" }),
        put(`${leases}/a`, { metadata: { name: "a", resourceVersion: "5" } }, { ...writer, label: "PUT a revision" }),
        put(`${core}/endpoints/a`, named("a"), writer),
        put(`${core}/configmaps/a`, named("a"), writer),
        get(leases),
        post(leases, named("a")),
        put(
          `${leases}/a`,
          { ...named("a"), spec: { holderIdentity: "x" } },
          { ...writer, label: "PUT one that exists" },
        ),
      ],
    },
    {
      name: "an apply that creates needs the right to create",
      steps: [
        ...mayWrite(),
        apply("a", {}),
        apply("a", {}, `&${dry}`),
        apply("a", { labels: { "-": "x" } }),
        apply("B_", {}),
        apply("a", { namespace: "other" }),
        patch("/api/v1/namespaces/none-@{id}/configmaps/a?fieldManager=m", applyPatch, configuration("a", {}), {
          ...writer,
          label: "APPLY in no namespace",
        }),
        get(`${core}/configmaps`),
        post(`${core}/configmaps`, named("a")),
        apply("a", { labels: { x: "y" } }),
      ],
    },
    { name: "an apply to the status of a policy creates it", steps: statuses() },
  ]
}

/** Of the kinds with a status, that of policies which validate is the only one. */
function statuses(): RequestStep[] {
  const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
  const spec = {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ["none.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] },
      ],
    },
    validations: [{ expression: "true" }],
  }
  const policy = (name: string, more: Record<string, Json>) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    ...more,
  })
  const status = { observedGeneration: 1, conditions: [] }
  const applied = (name: string, query: string, more: Record<string, Json>) =>
    patch(`${path}/${name}/status?fieldManager=m${query}`, applyPatch, policy(name, more), {
      label: `APPLY status of ${name}${query} ${Object.keys(more).join()}`,
    })
  return [
    applied("a-@{id}", `&${dry}`, { spec, status }),
    applied("a-@{id}", "", { spec, status }),
    get(`${path}/a-@{id}`),
    applied("a-@{id}", "", { status }),
    applied("b-@{id}", "", { status }),
    applied("b-@{id}", "", { spec: { validations: [] } }),
    applied("c-@{id}", "", { spec: { ...spec, paramKind: { apiVersion: "v1", kind: "ConfigMap" } } }),
    get(`${path}/c-@{id}`),
    put(`${path}/d-@{id}/status`, policy("d-@{id}", { spec })),
    patch("/api/v1/namespaces/@{ns}/services/a/status?fieldManager=m", applyPatch, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: { ports: [{ port: 1 }] },
    }),
  ]
}

/** kube-apiserver decides by what it has seen of roles and bindings so far. */
function mayWrite(): RequestStep[] {
  const rules = [{ apiGroups: ["", "coordination.k8s.io"], resources: ["*"], verbs: ["get", "update", "patch"] }]
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "w-@{id}" }
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: writer.as.name }]
  return [
    post(`${rbac}/v1/clusterroles`, { metadata: { name: "w-@{id}" }, rules }),
    post(`${rbac}/v1/clusterrolebindings`, { metadata: { name: "w-@{id}" }, roleRef, subjects }),
    get(`${leases}/none`, { ...writer, untilCode: 404 }),
  ]
}

const named = (name: string): { [key: string]: Json } => ({ metadata: { name } })

const configuration = (name: string, metadata: { [key: string]: Json }): Json =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } })

function apply(name: string, metadata: { [key: string]: Json }, more = ""): RequestStep {
  const path = `${core}/configmaps/${name}?fieldManager=m${more}`
  const label = `APPLY ${name} ${JSON.stringify(metadata)}${more}`
  return patch(path, applyPatch, configuration(name, metadata), { ...writer, label })
}
