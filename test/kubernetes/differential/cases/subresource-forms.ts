// Subresources and options in the forms of objects: tables, metadata alone, and bodies in protobuf.

import type { GroupVersionKind, Json } from "../../../../apimachinery/object.ts"
import { protobufMediaType } from "../../../../apimachinery/schema/protobuf/parse.ts"
import { asMetadata, asMetadataList, asTable } from "../generate/life-scenarios.ts"
import { kindNamed } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const maps = "/api/v1/namespaces/@{ns}/configmaps"

export function subresourceFormCases(): Scenario[] {
  return [
    { name: "a scale is read and written as table and metadata", steps: scales() },
    { name: "a status is read and written as table and metadata", steps: statuses() },
    { name: "what is made of a service account or a pod is answered as table and metadata", steps: made() },
    { name: "subresources are written in protobuf", steps: inProtobuf() },
    { name: "options of a delete are read in every form", steps: deletes() },
    { name: "options of a delete of many are read in every form", steps: deletesOfMany() },
  ]
}

const inProtobufTable = { accept: `${protobufMediaType};as=Table;v=v1;g=meta.k8s.io` }
const inProtobufMetadata = { accept: `${protobufMediaType};as=PartialObjectMetadata;v=v1;g=meta.k8s.io` }
const orJson = { accept: `${asTable.accept},application/json` }

const forms = [
  ["table", asTable],
  ["metadata", asMetadata],
  ["metadata list", asMetadataList],
  ["table in protobuf", inProtobufTable],
  ["metadata in protobuf", inProtobufMetadata],
  ["table or JSON", orJson],
] as const

/** The step once for each form. */
function inForms(what: string, step: (form: string) => RequestStep): RequestStep[] {
  return forms.map(([form, headers]) => ({ ...step(form), headers, label: `${what} as ${form}` }))
}

function scales(): RequestStep[] {
  const kind = kindNamed("apps/v1/deployments")
  const path = `${kind.objectPath}/scale`
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "minimal", namespace: "@{ns}" } }
  return [
    post(kind.path, kind.object()),
    ...inForms("GET scale", () => get(path)),
    ...inForms("PUT scale", () => put(path, { ...scale, spec: { replicas: 2 } })),
    ...inForms("PATCH scale", () => patch(path, mergePatch, { spec: { replicas: 3 } })),
  ]
}

function statuses(): RequestStep[] {
  return ["apps/v1/deployments", "v1/pods", "v1/persistentvolumeclaims"].flatMap((name) => {
    const kind = kindNamed(name)
    const path = `${kind.objectPath}/status`
    return [
      post(kind.path, kind.object()),
      ...inForms(`GET ${name} status`, () => get(path)),
      ...inForms(`PATCH ${name} status`, () => patch(path, mergePatch, { metadata: { labels: { a: "b" } } })),
    ]
  })
}

const pod = (name: string): Json => ({
  metadata: { name, labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: "busybox" }] },
})

function made(): RequestStep[] {
  const pods = "/api/v1/namespaces/@{ns}/pods"
  const tokens = "/api/v1/namespaces/@{ns}/serviceaccounts/default/token"
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } }
  const binding = { metadata: { name: "a" }, target: { kind: "Node", name: "n" } }
  return [
    ...inForms("POST token", () => post(tokens, { spec: { audiences: ["a"] } })),
    post(pods, pod("a")),
    ...inForms("POST eviction", () => post(`${pods}/a/eviction?dryRun=All`, eviction)),
    ...inForms("POST binding", () => post(`${pods}/a/binding?dryRun=All`, binding)),
    ...inForms("GET ephemeral containers", () => get(`${pods}/a/ephemeralcontainers`)),
    ...inForms("GET resize", () => get(`${pods}/a/resize`)),
    ...inForms("DELETE", () => remove(`${pods}/a?dryRun=All`)),
    ...inForms("DELETE all", () => remove(`${maps}?dryRun=All`)),
  ]
}

const kindOf = (group: string, version: string, kind: string): GroupVersionKind => ({ group, version, kind })
const deleteOptions = kindOf("", "v1", "DeleteOptions")

/** The body, given as JSON, in protobuf; the answer in either. */
function asProtobuf(step: RequestStep, kind: GroupVersionKind, label: string): RequestStep[] {
  const sent = { ...step, contentType: protobufMediaType, protobuf: kind }
  return [
    { ...sent, label: `${label} in protobuf` },
    { ...sent, headers: { accept: protobufMediaType }, label: `${label} in protobuf, answered so` },
  ]
}

function inProtobuf(): RequestStep[] {
  const kind = kindNamed("apps/v1/deployments")
  const path = `${kind.objectPath}/scale`
  const pods = "/api/v1/namespaces/@{ns}/pods"
  const scale = (spec: Json): Json => ({ metadata: { name: "minimal", namespace: "@{ns}" }, spec })
  const scaleKind = kindOf("autoscaling", "v1", "Scale")
  const evictionKind = kindOf("policy", "v1", "Eviction")
  const tokens = "/api/v1/namespaces/@{ns}/serviceaccounts/default/token"
  return [
    post(kind.path, kind.object()),
    ...asProtobuf(put(path, scale({ replicas: 4 })), scaleKind, "PUT scale"),
    ...asProtobuf(put(path, scale({ replicas: -4 })), scaleKind, "PUT bad scale"),
    ...asProtobuf(put(path, scale({ replicas: 4 })), kindOf("apps", "v1", "Deployment"), "PUT other kind"),
    get(path, { headers: { accept: protobufMediaType }, label: "GET scale in protobuf" }),
    post(pods, pod("a")),
    ...asProtobuf(post(`${pods}/a/eviction?dryRun=All`, { metadata: { name: "a" } }), evictionKind, "POST eviction"),
    ...asProtobuf(
      post(`${pods}/a/eviction`, { metadata: { name: "a" }, deleteOptions: { preconditions: { uid: "other" } } }),
      evictionKind,
      "POST eviction of another",
    ),
    ...asProtobuf(
      post(`${pods}/a/binding?dryRun=All`, { metadata: { name: "a" }, target: { kind: "Node", name: "n" } }),
      kindOf("", "v1", "Binding"),
      "POST binding",
    ),
    ...asProtobuf(
      post(tokens, { spec: { audiences: ["a"], expirationSeconds: 600 } }),
      kindOf("authentication.k8s.io", "v1", "TokenRequest"),
      "POST token",
    ),
    ...asProtobuf(
      post(tokens, { spec: { audiences: ["a"], expirationSeconds: 1 } }),
      kindOf("authentication.k8s.io", "v1", "TokenRequest"),
      "POST short token",
    ),
  ]
}

const optionCases: readonly Json[] = [
  {},
  { dryRun: ["All"] },
  { dryRun: ["Some"] },
  { propagationPolicy: "Foreground", dryRun: ["All"] },
  { propagationPolicy: "Never" },
  { propagationPolicy: "Orphan", orphanDependents: true },
  { gracePeriodSeconds: -1, dryRun: ["All"] },
  { preconditions: { uid: "other" } },
  { preconditions: { resourceVersion: "1" } },
]

function deletes(): RequestStep[] {
  const make = post(maps, { metadata: { name: "a" } })
  const one = `${maps}/a`
  return [
    ...optionCases.flatMap((options) => {
      const what = `DELETE ${JSON.stringify(options)}`
      const json = { apiVersion: "v1", kind: "DeleteOptions", ...(options as object) }
      return [
        make,
        { ...remove(one, json), label: what },
        make,
        { ...remove(one, options), label: `${what} without a kind` },
        make,
        { ...remove(one, JSON.stringify(json)), contentType: "application/yaml", label: `${what} in YAML` },
        make,
        ...asProtobuf(remove(one, options), deleteOptions, what),
      ]
    }),
    make,
    ...asProtobuf(remove(one, { dryRun: ["All"] }), kindOf("", "v1", "UpdateOptions"), "DELETE with update options"),
    {
      ...remove(one, { apiVersion: "v1", kind: "UpdateOptions", dryRun: ["All"] }),
      label: "DELETE with update options",
    },
    { ...remove(one, { apiVersion: "apps/v1", kind: "DeleteOptions" }), label: "DELETE with options of apps/v1" },
    make,
    { ...remove(one, "k8s\u0000nonsense"), contentType: protobufMediaType, label: "DELETE with broken protobuf" },
    { ...remove(one, "k8s\u0000\n\u007f"), contentType: protobufMediaType, label: "DELETE with cut protobuf" },
    { ...remove(one, "k8s\u0000"), contentType: protobufMediaType, label: "DELETE with empty protobuf" },
    { ...remove(one, "abc"), contentType: protobufMediaType, label: "DELETE with what is no protobuf" },
    ...["Status", "APIGroup", "ConfigMap", "ListOptions", "Nonsense"].map((kind) => ({
      ...remove(one, { apiVersion: "v1", kind }),
      label: `DELETE with ${kind}`,
    })),
    { ...remove(one, { bogus: 1, dryRun: ["All"] }), label: "DELETE with an unknown option" },
    remove(`${one}?dryRun=All&propagationPolicy=Never`),
    { ...remove(`${one}?dryRun=All`, { dryRun: [] }), label: "DELETE with options in both" },
  ]
}

function deletesOfMany(): RequestStep[] {
  const make = post(maps, { metadata: { name: "a", labels: { own: "@{id}" } } })
  const many = `${maps}?labelSelector=own%3D@{id}`
  return [
    ...optionCases.flatMap((options) => {
      const what = `DELETE many ${JSON.stringify(options)}`
      const json = { apiVersion: "v1", kind: "DeleteOptions", ...(options as object) }
      return [
        make,
        { ...remove(many, json), label: what },
        make,
        ...asProtobuf(remove(many, options), deleteOptions, what),
      ]
    }),
    { ...remove(many, { apiVersion: "v1", kind: "UpdateOptions" }), label: "DELETE many with update options" },
    { ...remove(many, "{"), label: "DELETE many with broken JSON" },
  ]
}
