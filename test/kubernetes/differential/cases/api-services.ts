// APIServices of servers that there are not, and of what nobody serves: in which order their versions are discovered, and what is
// answered for them.

import type { JsonObject } from "../generate/objects.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const services = "/apis/apiregistration.k8s.io/v1/apiservices"
const group = "@{id}.example.com"

export function apiServiceCases(): Scenario[] {
  return [
    { name: "versions of an absent server are discovered by their priorities", steps: versions() },
    { name: "an absent server has another version of a definition's group", steps: beside() },
    { name: "an APIService is for what nobody serves", steps: nobody() },
    { name: "an APIService of a definition is changed", steps: changed() },
  ]
}

function service(version: string, more: JsonObject = {}, name = "absent"): JsonObject {
  return {
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { name, namespace: "@{ns}" },
      insecureSkipTLSVerify: true,
      ...more,
    },
  }
}

const registered = (version: string, more: JsonObject = {}): RequestStep =>
  post(services, service(version, more), { label: `POST ${version}` })

const absent = (version: string): RequestStep[] => [
  get(`/apis/${group}/${version}`),
  get(`/apis/${group}/${version}/things`),
  get(`/apis/${group}/${version}/namespaces/@{ns}/things/a?watch=true`),
]

function versions(): RequestStep[] {
  return [
    ...["v1", "v2", "v10", "v1beta1", "v2alpha1", "other", "another"].map((version) => registered(version)),
    registered("v3", { versionPriority: 5 }),
    registered("v1alpha1", { versionPriority: 50 }),
    get(services + `/v1.${group}`, { untilText: "is not present" }),
    get(`/apis/${group}`, { untilText: "v1alpha1" }),
    ...absent("v1"),
    get(`/apis/${group}/v9`),
    get(`/apis/${group}/v9/things`),
    patch(`${services}/v3.${group}`, mergePatch, { spec: { versionPriority: 500 } }),
    get(`/apis/${group}`, { untilText: `"preferredVersion":{"groupVersion":"${group}/v3"` }),
    ...["v1", "v2", "v10", "v1beta1", "v2alpha1", "other", "another", "v3", "v1alpha1"].map((version) =>
      remove(`${services}/${version}.${group}`, undefined, { label: `DELETE ${version}` }),
    ),
    get(`/apis/${group}`, { untilCode: 404 }),
  ]
}

const definition = (names: readonly string[]): RequestStep =>
  post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: names.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      })),
    },
  })

function beside(): RequestStep[] {
  return [
    definition(["v1", "v2beta1"]),
    get(`/apis/${group}`, { untilText: "v2beta1" }),
    get(`/apis/${group}/v1`, { untilCode: 200 }),
    registered("v2", { versionPriority: 1000 }),
    get(`/apis/${group}`, { untilText: `"${group}/v2"` }),
    ...absent("v2"),
    get(`/apis/${group}/v1`),
    get(`/apis/${group}/v1/namespaces/@{ns}/things`, { untilCode: 200 }),
    get(`/apis/${group}/v9`),
    remove(`${services}/v2.${group}`),
    remove(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`),
  ]
}

function nobody(): RequestStep[] {
  const local = { service: null, insecureSkipTLSVerify: false }
  return [
    registered("v1", local),
    get(`/apis/${group}`, { untilText: `"${group}/v1"` }),
    ...absent("v1"),
    registered("v2", local),
    get(`/apis/${group}`, { untilText: `"${group}/v2"` }),
    put(`${services}/v2.${group}`, service("v2", local)),
    remove(`${services}/v2.${group}`),
    remove(`${services}/v1.${group}`),
  ]
}

function changed(): RequestStep[] {
  const path = `${services}/v1.${group}`
  return [
    definition(["v1", "v2"]),
    get(`/apis/${group}`, { untilText: `"${group}/v2"` }),
    get(path, { untilCode: 200 }),
    patch(path, mergePatch, {
      spec: { versionPriority: 500 },
      metadata: { labels: { "kube-aggregator.kubernetes.io/automanaged": null } },
    }),
    get(`/apis/${group}`, { untilText: `"preferredVersion":{"groupVersion":"${group}/v1"` }),
    get(path),
    // What the server manages is restored.
    patch(`${services}/v2.${group}`, mergePatch, { spec: { versionPriority: 900 } }),
    get(`${services}/v2.${group}`, { untilText: '"versionPriority":100' }),
    remove(`${services}/v2.${group}`),
    get(`${services}/v2.${group}`, { untilCode: 200 }),
    remove(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`),
    get(`${services}/v2.${group}`, { untilCode: 404 }),
    get(path),
    remove(path),
    get(`/apis/${group}`, { untilCode: 404 }),
  ]
}
