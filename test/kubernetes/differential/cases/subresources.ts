// Subresources that are more than a view of the object: scale, finalize, approval; and what a delete leaves behind.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Scenario,
  type Step,
  watch,
} from "../scenario.ts"
import { pod, pods } from "./pod-subresources.ts"
import { kindNamed } from "../generate/objects.ts"

export function subresourceCases(): Scenario[] {
  return [
    ...["apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "v1/replicationcontrollers"].map(scaled),
    { name: "a namespace ends when it is finalized", steps: namespaces() },
    { name: "a certificate request is approved once", steps: certificates() },
    { name: "propagation policies of a delete", steps: dependents() },
    { name: "a running pod has time to end", steps: grace() },
    { name: "secrets and config maps may be immutable", steps: immutable() },
    { name: "services are allocated and changed", steps: services() },
  ]
}

function scaled(resource: string): Scenario {
  const kind = kindNamed(resource)
  const path = `${kind.objectPath}/scale`
  const scale = (spec: Json, more: object = {}): Json => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "minimal", namespace: "@{ns}", ...more },
    spec,
  })
  return {
    name: `${kind.title} is scaled`,
    steps: [
      post(kind.path, kind.object()),
      get(path, { save: "scale" }),
      put(path, scale({ replicas: 3 })),
      put(path, scale({ replicas: 3 }), { label: "PUT scale again" }),
      put(path, scale({ replicas: -1 }), { label: "PUT negative scale" }),
      put(path, scale({ replicas: 4 }, { resourceVersion: "@{scale.metadata.resourceVersion}" }), {
        label: "PUT old scale",
      }),
      put(path, scale({ replicas: 4 }, { uid: "00000000-0000-0000-0000-000000000000" }), { label: "PUT other scale" }),
      put(`${path}?dryRun=All`, scale({ replicas: 9 })),
      put(path, scale({}), { label: "PUT empty scale" }),
      patch(path, mergePatch, { spec: { replicas: 5 } }),
      patch(path, mergePatch, { spec: { replicas: "x" } }),
      patch(path, jsonPatch, [{ op: "replace", path: "/spec/replicas", value: 6 }]),
      patch(path, mergePatch, { spec: { bogus: 1 } }),
      patch(path, mergePatch, { metadata: { labels: { a: "b" } } }, { label: "PATCH scale's labels" }),
      post(path, scale({ replicas: 1 })),
      remove(path),
      get(kind.objectPath),
    ],
  }
}

function namespaces(): RequestStep[] {
  const path = "/api/v1/namespaces/m@{id}"
  return [
    post("/api/v1/namespaces", { metadata: { name: "m@{id}" } }),
    put(`${path}/finalize`, { metadata: { name: "m@{id}" }, spec: { finalizers: ["kubernetes", "example.com/more"] } }),
    put(`${path}/finalize`, { metadata: { name: "m@{id}" }, spec: { finalizers: ["bogus"] } }),
    put(`${path}/finalize`, { metadata: { name: "other" }, spec: { finalizers: [] } }),
    remove(path),
    get(path),
    post(`${path}/configmaps`, { metadata: { name: "late" } }),
    remove(path, undefined, { label: "DELETE again" }),
    put(`${path}/finalize`, { metadata: { name: "m@{id}" }, spec: { finalizers: [] } }, { label: "PUT let go" }),
    get(path, { label: "GET gone" }),
    remove("/api/v1/namespaces/default"),
    remove("/api/v1/namespaces/kube-system"),
    remove("/api/v1/namespaces"),
  ]
}

function certificates(): RequestStep[] {
  const kind = kindNamed("certificates.k8s.io/v1/certificatesigningrequests")
  const path = kind.objectPath
  const condition = (type: string, status = "True"): Json => ({
    ...kind.object(),
    status: { conditions: [{ type, status, reason: "r", message: "m" }] },
  })
  return [
    post(kind.path, kind.object()),
    get(`${path}/approval`),
    put(`${path}/approval`, condition("Approved", "False")),
    put(`${path}/approval`, condition("Approved")),
    put(`${path}/approval`, condition("Denied")),
    put(`${path}/approval`, kind.object(), { label: "PUT approval taken back" }),
    put(`${path}/status`, { ...kind.object(), status: { certificate: "bm90IGEgY2VydGlmaWNhdGU=" } }),
    put(`${path}/status`, condition("Failed")),
    get(path),
  ]
}

function dependents(): RequestStep[] {
  const maps = "/api/v1/namespaces/@{ns}/configmaps"
  return ["Foreground", "Background", "Orphan"].flatMap((policy) => {
    const name = policy.toLowerCase()
    return [
      post(maps, { metadata: { name } }),
      remove(`${maps}/${name}`, { propagationPolicy: policy }),
      get(`${maps}/${name}`),
      remove(`${maps}/${name}`, { propagationPolicy: "Background" }, { label: `DELETE ${policy} again` }),
      patch(`${maps}/${name}`, mergePatch, { metadata: { finalizers: null } }),
      get(`${maps}/${name}`, { label: `GET after ${policy}` }),
    ]
  })
}

function grace(): Step[] {
  const bound = (name: string): RequestStep[] => [
    post(pods, pod(name)),
    post(`${pods}/${name}/binding`, { metadata: { name }, target: { kind: "Node", name: "node-1" } }),
  ]
  const held = { metadata: { finalizers: ["example.com/hold"] } }
  const evict = (name: string, deleteOptions: Json): RequestStep =>
    post(`${pods}/${name}/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, deleteOptions })
  return [
    get(pods, { save: "before" }),
    // Who ends at once is seen ending, too.
    watch(`${pods}?resourceVersion=@{before.metadata.resourceVersion}`),
    ...bound("a"),
    remove(`${pods}/a`),
    remove(`${pods}/a?gracePeriodSeconds=10`),
    remove(`${pods}/a?gracePeriodSeconds=50`),
    get(`${pods}/a`),
    remove(`${pods}/a?gracePeriodSeconds=0`),
    get(`${pods}/a`, { label: "GET gone" }),
    ...bound("b"),
    remove(`${pods}/b?gracePeriodSeconds=-1`),
    get(`${pods}/b`),
    ...bound("c"),
    remove(pods),
    get(pods),
    post(pods, pod("free")),
    remove(`${pods}/free`),
    post(pods, pod("forced")),
    remove(`${pods}/forced?gracePeriodSeconds=0&dryRun=All`),
    remove(`${pods}/forced?gracePeriodSeconds=0&propagationPolicy=Background`),
    ...bound("d"),
    remove(`${pods}/d?gracePeriodSeconds=0`),
    ...bound("e"),
    patch(`${pods}/e`, mergePatch, held),
    remove(`${pods}/e?gracePeriodSeconds=0`),
    remove(`${pods}/e?gracePeriodSeconds=0`),
    patch(`${pods}/e`, mergePatch, { metadata: { finalizers: null } }),
    post(pods, pod("f")),
    patch(`${pods}/f`, mergePatch, { metadata: { finalizers: ["orphan"] } }),
    remove(`${pods}/f?propagationPolicy=Background`),
    ...bound("g"),
    evict("g", {}),
    evict("g", { gracePeriodSeconds: 0 }),
    remove(`${pods}/b?gracePeriodSeconds=0`),
    remove(`${pods}/c?gracePeriodSeconds=0`),
    ...bound("h"),
    remove(`${pods}?gracePeriodSeconds=0`),
  ]
}

function immutable(): RequestStep[] {
  return ["configmaps", "secrets"].flatMap((resource) => {
    const path = `/api/v1/namespaces/@{ns}/${resource}`
    const data = resource === "secrets" ? { a: "YQ==" } : { a: "a" }
    return [
      post(path, { metadata: { name: "a" }, data, immutable: true }),
      patch(`${path}/a`, mergePatch, { data: { a: "Yg==" } }),
      patch(`${path}/a`, mergePatch, { immutable: false }),
      patch(`${path}/a`, mergePatch, { metadata: { labels: { a: "b" } } }),
    ]
  })
}

/** What an ExternalName has no use for is not shown, and there again when it has. */
function hiddenPolicy(
  path: string,
  make: (name: string, spec: object) => RequestStep,
  change: (name: string, spec: object) => RequestStep,
): RequestStep[] {
  const external = { type: "ExternalName", externalName: "example.com", ports: null }
  const internal = { type: "ClusterIP", externalName: null, ports: [{ port: 80 }] }
  return [
    make("hiding", { internalTrafficPolicy: "Local" }),
    patch(`${path}/hiding?dryRun=All`, mergePatch, { spec: external }),
    change("hiding", external),
    get(`${path}/hiding`),
    change("hiding", { sessionAffinity: "None" }),
    patch(`${path}/hiding`, mergePatch, { metadata: { labels: { a: "b" }, finalizers: ["example.com/hold"] } }),
    patch(`${path}/hiding/status`, mergePatch, { status: { loadBalancer: {} } }),
    get(path),
    remove(`${path}/hiding?dryRun=All`),
    change("hiding", internal),
    change("hiding", external),
    change("hiding", { internalTrafficPolicy: null }),
    change("hiding", internal),
    make("hidden", { ...external, ports: undefined, internalTrafficPolicy: "Local" }),
    get(`${path}/hidden`),
    change("hidden", internal),
    change("hiding", { internalTrafficPolicy: "Local" }),
    change("hiding", external),
    remove(`${path}/hiding`),
    patch(`${path}/hiding`, mergePatch, { metadata: { finalizers: null } }),
  ]
}

function services(): RequestStep[] {
  const path = "/api/v1/namespaces/@{ns}/services"
  const make = (name: string, spec: object): RequestStep =>
    post(path, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
  const change = (name: string, spec: object): RequestStep =>
    patch(`${path}/${name}`, mergePatch, { spec: { ...spec } as Json })
  return [
    make("a", {}),
    make("headless", { clusterIP: "None" }),
    make("port", { type: "NodePort" }),
    make("balanced", { type: "LoadBalancer", externalTrafficPolicy: "Local" }),
    make("named", { type: "ExternalName", externalName: "example.com", ports: undefined }),
    make("outside", { clusterIP: "10.1.2.3" }),
    make("low", { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] }),
    make("dual", { ipFamilyPolicy: "PreferDualStack" }),
    make("six", { ipFamilies: ["IPv6"] }),
    make("both", {
      ports: [
        { port: 53, protocol: "UDP", name: "u" },
        { port: 53, name: "t" },
      ],
      type: "NodePort",
    }),
    change("a", { type: "NodePort" }),
    change("a", { type: "ClusterIP" }),
    change("a", { type: "ExternalName", externalName: "example.com" }),
    change("a", { type: "ClusterIP", externalName: null }),
    change("a", { clusterIP: "None" }),
    change("a", { clusterIP: "10.96.200.200" }),
    change("headless", { clusterIP: null }),
    ...hiddenPolicy(path, make, change),
    change("port", { ports: [{ port: 81 }] }),
    change("balanced", { externalTrafficPolicy: "Cluster" }),
    change("balanced", { loadBalancerClass: "example.com/class" }),
    change("named", { type: "ClusterIP", ports: [{ port: 80 }] }),
    get(path),
    patch(`${path}/balanced/status`, mergePatch, { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } }),
    patch(`${path}/balanced/status`, mergePatch, {
      status: { loadBalancer: { ingress: [{ ip: "bogus", hostname: "-" }] } },
    }),
    remove(path),
    get(path, { label: "LIST none" }),
  ]
}
