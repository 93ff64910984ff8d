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
    {
      name: "an APIService without a server is available, whatever a client writes",
      steps: local(),
    },
    { name: "an APIService that claims to be the server's own is deleted", steps: claiming() },
    {
      name: "an API is available as its Service and the endpoints of that are",
      steps: conditions(),
    },
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
    // Upstream registers one version after the other.
    get(`/apis/${group}`, {
      untilText: `"${group}/v1","version":"v1"}],"preferredVersion":{"groupVersion":"${group}/v2"`,
    }),
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

const until = (version: string, text: string): RequestStep =>
  get(`${services}/${version}.${group}`, { untilText: text, label: `GET ${version} until ${text}` })

const noServer = { service: null, insecureSkipTLSVerify: false }
const written = "2026-01-01T00:00:00Z"

function local(): RequestStep[] {
  const path = `${services}/v1.${group}`
  const condition = (type: string, more: JsonObject) => ({ type, lastTransitionTime: written, ...more })
  const write = (...conditions: JsonObject[]): RequestStep =>
    patch(`${path}/status`, mergePatch, { status: { conditions } }, { label: "PATCH status" })
  return [
    registered("v1", noServer),
    write(
      condition("Available", { status: "False", reason: "Mine", message: "mine" }),
      condition("Mine", { status: "True" }),
    ),
    until("v1", "always available"),
    write(),
    until("v1", "always available"),
    write(condition("Mine", { status: "True" }), condition("Available", { status: "True", reason: "Mine" })),
    until("v1", "always available"),
    // It has a server, and has none again.
    patch(`${path}`, mergePatch, service("v1"), { label: "PATCH remote" }),
    until("v1", "is not present"),
    patch(`${path}`, mergePatch, { spec: noServer }, { label: "PATCH local" }),
    until("v1", "always available"),
    remove(path),
  ]
}

function claiming(): RequestStep[] {
  const labelled = (version: string, value: string): RequestStep => {
    const { metadata, ...rest } = service(version, noServer) as { metadata: JsonObject }
    const labels = { "kube-aggregator.kubernetes.io/automanaged": value }
    return post(services, { ...rest, metadata: { ...metadata, labels } }, { label: `POST ${version}` })
  }
  return [
    labelled("v1", "true"),
    labelled("v2", "onstart"),
    labelled("v3", "True"),
    get(`${services}/v1.${group}`, { untilCode: 404 }),
    get(`${services}/v2.${group}`),
    get(`${services}/v3.${group}`),
    remove(`${services}/v2.${group}`),
    remove(`${services}/v3.${group}`),
  ]
}

/** All within the ten seconds for which a test waits: what a server looks at every half a minute would come too late. */
function conditions(): RequestStep[] {
  const own = "/api/v1/namespaces/@{ns}/services"
  const slices = "/apis/discovery.k8s.io/v1/namespaces/@{ns}/endpointslices"
  const slice = (ready: boolean, port: string): JsonObject => ({
    metadata: { name: "absent-1", labels: { "kubernetes.io/service-name": "absent" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready } }],
    ports: [{ name: port, port: 443 }],
  })
  const elsewhere = (version: string, name: string): RequestStep =>
    registered(version, { service: { name, namespace: "@{ns}" } })
  return [
    registered("v1"),
    registered("v2", { service: { name: "absent", namespace: "@{ns}", port: 8443 } }),
    elsewhere("v3", "other-port"),
    elsewhere("v4", "endless"),
    until("v1", "is not present"),
    post(own, { metadata: { name: "absent" }, spec: { ports: [{ name: "x", port: 443 }] } }),
    until("v1", "cannot find endpointslices"),
    until("v2", "is not listening on port 8443"),
    post(slices, slice(true, "y")),
    until("v1", "have no addresses with port name"),
    put(`${slices}/absent-1`, slice(false, "x")),
    until("v1", "have no addresses with port name"),
    remove(`${slices}/absent-1`),
    until("v1", "cannot find endpointslices"),
    remove(`${own}/absent`),
    until("v1", "is not present"),
    until("v2", "is not present"),
    post(own, { metadata: { name: "other-port" }, spec: { type: "NodePort", ports: [{ port: 444 }] } }),
    until("v3", "no service port 443"),
    post(own, { metadata: { name: "endless" }, spec: { type: "NodePort", ports: [{ port: 443 }] } }),
    until("v4", "no endpoints available"),
    ...["v1", "v2", "v3", "v4"].map((version) =>
      remove(`${services}/${version}.${group}`, undefined, { label: `DELETE ${version}` }),
    ),
  ]
}
