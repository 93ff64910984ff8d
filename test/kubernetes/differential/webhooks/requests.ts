// What webhooks are sent, for every way to write.

import type { Json } from "../../../../apimachinery/object.ts"
import { definitionOf } from "../cases/things.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  strategicPatch,
} from "../scenario.ts"
import { maps, pods, type RegisteredHook, rule, space, type WebhookScenario } from "./scenario.ts"

/** Of both kinds, for everything in the scenario's namespace. */
export const both: readonly RegisteredHook[] = [{ kind: "Mutating" }, { kind: "Validating" }]

/** Of both kinds, for cluster-scoped objects with the scenario's label. */
const labelled = (...resources: string[]): RegisteredHook[] =>
  both.map((hook) => ({
    ...hook,
    webhook: { rules: [rule(resources)], namespaceSelector: {}, objectSelector: { matchLabels: { own: "@{id}" } } },
  }))

export function requestScenarios(): WebhookScenario[] {
  return [
    { name: "an object is created, updated and deleted", hooks: both, steps: life() },
    { name: "a write is a dry run", hooks: both, steps: dryRuns() },
    { name: "an object is applied", hooks: both, steps: applies() },
    { name: "objects are created by an update", hooks: both, steps: createdByUpdate() },
    { name: "a collection is deleted", hooks: both, steps: collections() },
    { name: "namespaces are written", hooks: labelled("namespaces", "namespaces/*"), steps: namespaces() },
    { name: "objects of the cluster are written", hooks: labelled("*/*"), steps: clusterObjects() },
    { name: "reviews are created", hooks: both, steps: reviews() },
    { name: "the caller has more than a name", hooks: both, steps: callers() },
    { name: "custom resources are written", hooks: both, steps: customResources() },
    { name: "a review is of version v1beta1", hooks: both.map(beta), steps: [post(maps, { metadata: { name: "a" } })] },
    { name: "writes change nothing or fail", hooks: both, steps: vain() },
    { name: "values are defaulted and pruned", hooks: both, steps: defaulted() },
  ]
}

const beta = (hook: RegisteredHook): RegisteredHook => ({
  ...hook,
  webhook: { admissionReviewVersions: ["v2", "v1beta1", "v1"] },
})

const map = (name: string, more: object = {}): Json => ({ metadata: { name }, data: { a: "b" }, ...more }) as Json
export const container = { name: "c", image: "i" }
export const pod = (name: string, more: object = {}): Json =>
  ({ metadata: { name }, spec: { containers: [container], terminationGracePeriodSeconds: 0, ...more } }) as Json

function life(): RequestStep[] {
  return [
    post(`${maps}?fieldManager=me&fieldValidation=Strict`, map("a"), { save: "a" }),
    post(maps, { metadata: { generateName: "gen-" } }),
    post(maps, { metadata: { name: "b", namespace: "@{ns}", uid: "x", resourceVersion: "", generation: 5 } }),
    put(`${maps}/a?fieldManager=me&pretty=true`, map("a", { data: { c: "d" } })),
    put(`${maps}/a`, { metadata: { name: "a", resourceVersion: "@{a.metadata.resourceVersion}" } }),
    patch(`${maps}/a`, mergePatch, { metadata: { labels: { x: "y" } } }),
    patch(`${maps}/a?fieldManager=you`, jsonPatch, [{ op: "add", path: "/data", value: { e: "f" } }]),
    patch(`${maps}/a?force=true`, strategicPatch, { metadata: { annotations: { x: "y" } } }),
    patch(`${maps}/a`, mergePatch, { metadata: { finalizers: ["example.com/x"] } }),
    remove(`${maps}/a`, { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "@{a.metadata.uid}" } }),
    remove(`${maps}/a`),
    patch(`${maps}/a`, mergePatch, { metadata: { finalizers: null } }),
    remove(`${maps}/b?propagationPolicy=Foreground&gracePeriodSeconds=5`),
    patch(`${maps}/b`, mergePatch, { metadata: { finalizers: [] } }),
    remove(`${maps}/absent`),
  ]
}

function dryRuns(): RequestStep[] {
  return [
    post(`${maps}?dryRun=All`, map("a")),
    post(maps, map("a")),
    put(`${maps}/a?dryRun=All`, map("a", { data: {} })),
    patch(`${maps}/a?dryRun=All&dryRun=All`, mergePatch, { data: { c: "d" } }),
    patch(`${maps}/a?dryRun=All&fieldManager=m`, applyPatch, { apiVersion: "v1", kind: "ConfigMap", data: { e: "f" } }),
    remove(`${maps}/a?dryRun=All`),
    remove(`${maps}/a`, { dryRun: ["All"], propagationPolicy: "Background" }),
    remove(`${maps}?dryRun=All`),
  ]
}

function applies(): RequestStep[] {
  const apply = (data: object, query: string): RequestStep =>
    patch(`${maps}/a?${query}`, applyPatch, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      data,
    } as Json)
  return [
    apply({ a: "b" }, "fieldManager=m"),
    apply({ a: "c" }, "fieldManager=m&force=true&fieldValidation=Warn"),
    apply({ a: "d" }, "fieldManager=other"),
    apply({ a: "d" }, "fieldManager=other&force=true"),
    apply({ a: "d" }, "fieldManager=other&force=true"),
  ]
}

function createdByUpdate(): RequestStep[] {
  const leases = "/apis/coordination.k8s.io/v1/namespaces/@{ns}/leases"
  const endpoints = `${space}/endpoints`
  return [
    put(`${leases}/a`, { metadata: { name: "a" }, spec: { holderIdentity: "x" } }),
    put(`${leases}/a?fieldManager=m`, { metadata: { name: "a" }, spec: { holderIdentity: "y" } }),
    put(`${leases}/c`, {
      metadata: {
        name: "c",
        creationTimestamp: "2020-01-01T00:00:00Z",
        deletionTimestamp: "2020-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 5,
        selfLink: "/x",
        generation: 3,
      },
      spec: {},
    }),
    get(`${leases}/c`),
    put(`${endpoints}/a?dryRun=All&fieldManager=m`, { metadata: { name: "a" } }),
    patch(`${leases}/b`, mergePatch, { spec: { holderIdentity: "x" } }),
    remove(`${leases}/a`),
  ]
}

function collections(): RequestStep[] {
  return [
    ...["a", "b"].map((name) => post(maps, map(name, { metadata: { name, labels: { name } } }))),
    post(pods, pod("p", { terminationGracePeriodSeconds: 30 })),
    remove(`${maps}?labelSelector=name%3Da&propagationPolicy=Orphan`),
    remove(maps, { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 3 }),
    remove(pods),
    remove(`${pods}?gracePeriodSeconds=0`),
  ]
}

function namespaces(): RequestStep[] {
  const all = "/api/v1/namespaces"
  const labels = { own: "@{id}" }
  return [
    post(all, { metadata: { name: "@{id}", labels } }),
    patch(`${all}/@{id}`, mergePatch, { metadata: { annotations: { a: "b" } } }),
    patch(`${all}/@{id}/status`, mergePatch, { status: { conditions: [] } }),
    remove(`${all}/@{id}`),
    put(`${all}/@{id}/finalize`, { metadata: { name: "@{id}", labels }, spec: { finalizers: [] } }),
    post(all, { metadata: { generateName: "gen-", labels } }),
  ]
}

function clusterObjects(): RequestStep[] {
  const labels = { own: "@{id}" }
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
  const metadata = { name: "@{id}", labels }
  return [
    post(roles, { metadata, rules: [] }),
    put(`${roles}/@{id}`, { metadata, rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] }),
    remove(`${roles}/@{id}`),
    post("/api/v1/persistentvolumes", {
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/v" } },
    }),
    patch("/api/v1/persistentvolumes/@{id}/status", mergePatch, { status: { phase: "Available" } }),
    remove("/api/v1/persistentvolumes/@{id}"),
    post("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata, value: 5 }),
    remove("/apis/scheduling.k8s.io/v1/priorityclasses/@{id}"),
    post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", { metadata }),
    remove("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/@{id}"),
    post("/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All", { metadata, spec: {} }),
  ]
}

function reviews(): RequestStep[] {
  const attributes = { namespace: "@{ns}", verb: "get", resource: "pods" }
  return [
    post("/apis/authorization.k8s.io/v1/namespaces/@{ns}/localsubjectaccessreviews", {
      metadata: { namespace: "@{ns}" },
      spec: { user: "u", resourceAttributes: attributes },
    }),
  ]
}

function callers(): RequestStep[] {
  const groups = { "impersonate-group": "system:masters" }
  return [
    post(maps, map("a"), {
      headers: {
        "impersonate-user": "jane",
        "impersonate-uid": "u-1",
        "impersonate-extra-example.com%2fscopes": "view",
        "impersonate-extra-dept": "x",
        ...groups,
      },
    }),
    remove(`${maps}/a`, undefined, { headers: { "impersonate-user": "system:serviceaccount:@{ns}:x", ...groups } }),
  ]
}

function customResources(): RequestStep[] {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: { size: { type: "integer", default: 1 }, color: { type: "string" } },
        },
        status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  }
  const group = "w@{id}.example.com"
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" }
  const version = { schema, subresources: { status: {}, scale } }
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  return [
    post(definitions, definitionOf(group, { kind: "Thing" }, version) as Json),
    get(things, { untilCode: 200 }),
    post(things, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" }, spec: { none: 1 } }),
    put(`${things}/a`, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
      spec: { size: 2 },
      status: { size: 5 },
    }),
    patch(`${things}/a/status`, mergePatch, { status: { size: 3 }, spec: { size: 9 } }),
    patch(`${things}/a/scale`, mergePatch, { spec: { replicas: 4 } }),
    put(`${things}/a/scale`, { metadata: { name: "a", namespace: "@{ns}" }, spec: { replicas: 7 } }),
    patch(`${things}/b?fieldManager=m`, applyPatch, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "b" },
      spec: { color: "red" },
    }),
    remove(`${things}/a?dryRun=All`),
    remove(things),
    remove(`${definitions}/things.${group}`),
  ]
}

function vain(): RequestStep[] {
  return [
    post(maps, map("a"), { save: "a" }),
    post(maps, map("a")),
    patch(`${maps}/a`, mergePatch, {}),
    put(`${maps}/a`, { metadata: { name: "a", resourceVersion: "1" } }),
    post(maps, map("Not_A_Name")),
    post(maps, { metadata: { name: "c" }, data: { "a b": "c" } }),
    patch(`${maps}/absent`, mergePatch, { data: { a: "b" } }),
    remove(`${maps}/a`, { preconditions: { uid: "other" } }),
    remove(`${maps}/a`, { preconditions: { resourceVersion: "1" } }),
    post("/api/v1/namespaces/absent-@{id}/configmaps", map("a")),
    post(pods, pod("p", { serviceAccountName: "absent" })),
  ]
}

function defaulted(): RequestStep[] {
  const service = { metadata: { name: "s", creationTimestamp: null, labels: {} }, spec: { ports: [{ port: 80 }] } }
  const job = { template: { spec: { containers: [container], restartPolicy: "Never" } } }
  return [
    post(
      `${space}/services?fieldValidation=Ignore`,
      {
        ...service,
        spec: { ...service.spec, clusterIP: "None", selector: { a: "b" }, none: 1 },
        status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
      },
      { label: "POST a service" },
    ),
    post("/apis/batch/v1/namespaces/@{ns}/jobs", { metadata: { name: "j" }, spec: job } as Json),
    post("/apis/batch/v1/namespaces/@{ns}/cronjobs", {
      metadata: { name: "c" },
      spec: { schedule: "* * * * *", jobTemplate: { spec: job } },
    } as Json),
    post(`${space}/secrets`, { metadata: { name: "s" }, stringData: { a: "b" } }),
    post(`${space}/persistentvolumeclaims`, {
      metadata: { name: "v" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1000Mi" } } },
    }),
    post("/apis/networking.k8s.io/v1/namespaces/@{ns}/networkpolicies", { metadata: { name: "n" }, spec: {} }),
    post(`${space}/events`, {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", namespace: "@{ns}", name: "p" },
      firstTimestamp: "2020-01-01T00:00:00Z",
    }),
    put(`${space}/secrets/s`, { metadata: { name: "s" }, type: "Opaque", data: null, immutable: false }),
    post(`${space}/limitranges`, {
      metadata: { name: "l" },
      spec: { limits: [{ type: "Container", default: { cpu: "1" } }] },
    }),
    post(pods, pod("p")),
  ]
}
