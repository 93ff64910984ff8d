// Scenarios on the objects that every new cluster has. Each has objects of its own, since all run at the same time.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, jsonPatch, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { flowScenarios } from "./flows.ts"

const change = (path: string, body: Json): RequestStep => patch(path, mergePatch, body)
const configMaps = "/api/v1/namespaces/kube-system/configmaps"
const leases =
  "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver"

export function keptObjectScenarios(): Scenario[] {
  return [
    { name: "a deleted system namespace is created again", steps: systemNamespace() },
    { name: "the day since which tokens are tracked is a day", steps: tokenTracking() },
    { name: "servers of aggregated APIs know their callers", steps: extensionAuthentication() },
    { name: "built-in groups are listed while they have APIServices", steps: builtInGroups() },
    {
      name: "the Service of the API, its endpoints and the range of its address are there",
      // One after the other: endpoints are deleted with their Service, which has an address while the range is ready.
      steps: [...apiEndpoints(), ...apiService(), ...serviceCIDR()],
    },
    {
      name: "API servers have Leases",
      steps: [get(leases, { label: "LIST leases of API servers" })],
    },
    ...flowScenarios(),
  ]
}

function systemNamespace(): RequestStep[] {
  const path = "/api/v1/namespaces/kube-node-lease"
  const own = { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-node-lease" } }
  return [
    change(path, { metadata: { labels: { mine: "1" } } }),
    remove(path),
    put(`${path}/finalize`, { ...own, spec: { finalizers: [] } }),
    get(path, { untilCode: 200 }),
  ]
}

function builtInGroups(): RequestStep[] {
  const services = "/apis/apiregistration.k8s.io/v1/apiservices"
  const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" }
  const names = ["v1.node.k8s.io", "v1.autoscaling"]
  const seen = [
    get("/apis"),
    get("/apis/node.k8s.io"),
    get("/apis/node.k8s.io/v1"),
    get("/apis/node.k8s.io/v1/runtimeclasses"),
    get("/apis/autoscaling", { untilText: '"versions":[{"groupVersion":"autoscaling/v2","version":"v2"}]' }),
    get("/apis/autoscaling/v1"),
    get("/apis", { headers: aggregated, label: "GET /apis aggregated" }),
  ]
  const again = (group: string, groupPriorityMinimum: number, versionPriority: number): RequestStep =>
    post(services, {
      metadata: { name: `v1.${group}`, labels: { "kube-aggregator.kubernetes.io/automanaged": "onstart" } },
      spec: { group, version: "v1", groupPriorityMinimum, versionPriority },
    })
  return [
    ...names.map((name) => remove(`${services}/${name}`)),
    ...names.map((name) => get(`${services}/${name}`, { untilCode: 404 })),
    ...seen.toReversed(),
    again("node.k8s.io", 16_300, 15),
    again("autoscaling", 17_500, 15),
    // Upstream hears of what is created a moment later, one after the other.
    get("/apis/autoscaling", { untilText: "autoscaling/v1", label: "GET /apis/autoscaling again" }),
    get("/apis", { untilText: "node.k8s.io", label: "GET /apis again" }),
  ]
}

function tokenTracking(): RequestStep[] {
  const path = `${configMaps}/kube-apiserver-legacy-service-account-token-tracking`
  const corrected = get(path, { untilText: '"since":"20' })
  return [
    corrected,
    change(path, { data: { since: "yesterday", other: "1" } }),
    corrected,
    change(path, { data: { since: "2001-01-01" } }),
    get(path),
    change(path, { data: null }),
    corrected,
  ]
}

function extensionAuthentication(): RequestStep[] {
  const path = `${configMaps}/extension-apiserver-authentication`
  const names = "requestheader-allowed-names"
  return [
    get(path, { untilCode: 200 }),
    change(path, {
      metadata: { labels: { mine: "1" } },
      data: {
        other: "1",
        [names]: '["mine", "mine"]',
        "requestheader-username-headers": null,
        "requestheader-group-headers": "null",
        "client-ca-file": "",
      },
    }),
    get(path, { untilText: "front-proxy-client" }),
    remove(path),
    get(path, { untilCode: 200 }),
  ]
}

function serviceCIDR(): RequestStep[] {
  const path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"
  const ready = get(path, { untilText: "is ready" })
  const spec = { cidrs: ["10.96.0.0/16"] }
  return [
    get(path),
    put(`${path}/status`, { metadata: { name: "kubernetes" }, spec, status: { conditions: [] } }),
    ready,
    change(`${path}/status`, { status: { conditions: [readiness("Unknown")] } }),
    ready,
    remove(path),
    ready,
    change(`${path}/status`, { status: { conditions: [readiness("False")] } }),
    get(path),
    remove(path),
    ready,
  ]
}

const readiness = (status: string): Json => ({
  type: "Ready",
  status,
  reason: "Mine",
  message: "mine",
  lastTransitionTime: "2026-01-01T00:00:00Z",
})

function apiService(): RequestStep[] {
  const path = "/api/v1/namespaces/default/services/kubernetes"
  return [
    get(path, { untilCode: 200 }),
    change(path, { metadata: { labels: { mine: "1", component: null } } }),
    remove(path),
    get(path, { untilCode: 200 }),
  ]
}

function apiEndpoints(): RequestStep[] {
  const path = "/api/v1/namespaces/default/endpoints/kubernetes"
  const slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
  const corrected = { untilText: "198.51.100.7" }
  const foreign = { addresses: ["198.51.100.8"], conditions: { ready: false } }
  const mark = { labels: { mine: "1" }, annotations: { mine: "1" } }
  return [
    get(path, corrected),
    get(slice, corrected),
    patch(path, jsonPatch, [
      { op: "replace", path: "/subsets/0/addresses/0/ip", value: "198.51.100.8" },
      { op: "add", path: "/metadata/annotations", value: mark.annotations },
    ]),
    get(path, corrected),
    change(path, { metadata: { labels: null } }),
    get(path, { untilText: "skip-mirror" }),
    change(path, { subsets: null }),
    get(path, corrected),
    change(slice, { metadata: mark, endpoints: [foreign] }),
    get(slice, corrected),
    change(slice, { metadata: { labels: { "kubernetes.io/service-name": "other" } } }),
    get(slice, { untilText: '"kubernetes.io/service-name":"kubernetes"' }),
    remove(slice),
    get(slice, { untilCode: 200 }),
    remove(path),
    get(path, { untilCode: 200 }),
  ]
}
