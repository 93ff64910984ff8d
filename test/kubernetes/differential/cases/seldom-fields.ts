// Fields that clients seldom give: requests of claims, a class of a pod, a rollout of a DaemonSet that has none, a Secret's other type.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function seldomFieldCases(): Scenario[] {
  return [
    { name: "containers ask for parts of claims", steps: claims() },
    { name: "a pod is made with a class", steps: classes() },
    { name: "a DaemonSet has a rollout it does not use", steps: rollouts() },
    { name: "a secret gets another type", steps: types() },
    { name: "a node is given a kubelet configuration", steps: configurations() },
    { name: "an endpoint slice is given the topology of v1beta1", steps: topologies() },
    { name: "lists of a quota are nothing", steps: quotas() },
  ]
}

function claims(): RequestStep[] {
  const lists: Json[] = [
    [{ name: "a", request: "with/slash" }],
    [{ name: "a" }, { name: "a" }],
    [{ name: "a", request: "x" }, { name: "a" }],
    [{ name: "a" }, { name: "a", request: "x/y" }],
    [
      { name: "a", request: "x" },
      { name: "a", request: "x" },
    ],
    [{ name: "a", request: "x" }, { name: "a", request: "y" }, { name: "a" }],
    [{ name: "b", request: "" }],
  ]
  return lists.map((list, index) => {
    const resourceClaims = [{ name: "a", resourceClaimName: "x" }]
    const containers = [{ name: "main", image: "busybox", resources: { claims: list } }]
    return post(
      `${core}/pods?dryRun=All`,
      { metadata: { name: "a" }, spec: { resourceClaims, containers } },
      { label: `POST ${index}` },
    )
  })
}

function classes(): RequestStep[] {
  const spec = { containers: [{ name: "main", image: "busybox" }] }
  return ["Guaranteed", "BestEffort", "Bogus", ""].map((qosClass) =>
    post(
      `${core}/pods?dryRun=All`,
      { metadata: { name: "a" }, spec, status: { qosClass } },
      { label: `POST ${qosClass}` },
    ),
  )
}

function rollouts(): RequestStep[] {
  const metadata = { labels: { a: "b" } }
  const template = { metadata, spec: { containers: [{ name: "main", image: "busybox" }] } }
  const strategies: Json[] = [
    { type: "OnDelete" },
    { type: "OnDelete", rollingUpdate: {} },
    { type: "OnDelete", rollingUpdate: { maxUnavailable: "50%" } },
    { type: "OnDelete", rollingUpdate: { maxSurge: 1 } },
    { type: "Bogus", rollingUpdate: {} },
  ]
  return strategies.map((updateStrategy, index) => {
    const spec = { selector: { matchLabels: metadata.labels }, updateStrategy, template }
    const path = "/apis/apps/v1/namespaces/@{ns}/daemonsets?dryRun=All"
    return post(path, { metadata: { name: "a" }, spec }, { label: `POST ${index}` })
  })
}

function types(): RequestStep[] {
  const secret = (type: string): Json => ({ metadata: { name: "a" }, type })
  return [
    post(`${core}/secrets`, secret("Opaque")),
    ...["<a>", "", "Opaque"].map((type) => put(`${core}/secrets/a`, secret(type), { label: `PUT ${type}` })),
  ]
}

function configurations(): RequestStep[] {
  const metadata = { name: "@{id}" }
  // Upstream adds this taint to a new node.
  const taints = [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]
  const path = "/api/v1/nodes/@{id}"
  const configMap = { namespace: "x", name: "y", kubeletConfigKey: "z" }
  const sources: Json[] = [{ configMap }, { configMap: { ...configMap, uid: "u" } }, {}, { configMap: {} }, null]
  const config = { assigned: { configMap: { ...configMap, uid: "u", resourceVersion: "1" } }, error: "x" }
  return [
    post("/api/v1/nodes", { metadata, spec: { taints, configSource: { configMap } }, status: { config } }),
    ...sources.flatMap((configSource) => [
      put(path, { metadata, spec: { taints, configSource } }),
      patch(path, mergePatch, { spec: { configSource } }),
    ]),
    ...[config, { assigned: {} }, {}].flatMap((reported) => [
      put(`${path}/status`, { metadata, status: { config: reported } }),
      patch(`${path}/status`, mergePatch, { status: { config: reported } }),
    ]),
    get(path),
    remove(path),
  ]
}

function topologies(): RequestStep[] {
  const slices = "/apis/discovery.k8s.io/v1/namespaces/@{ns}/endpointslices"
  const addresses = ["10.1.2.3"]
  const slice = (endpoint: { [field: string]: Json }): Json => {
    return { metadata: { name: "a" }, addressType: "IPv4", endpoints: [{ addresses, ...endpoint }] }
  }
  const topology = { "kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "z" }
  return [
    post(slices, slice({ deprecatedTopology: topology })),
    put(`${slices}/a`, slice({ deprecatedTopology: topology })),
    put(`${slices}/a`, slice({ deprecatedTopology: {} })),
    put(`${slices}/a`, slice({ deprecatedTopology: { "": "x" }, nodeName: "m" })),
    put(`${slices}/a`, slice({ deprecatedTopology: null })),
    put(`${slices}/a`, slice({ nodeName: "m" })),
    patch(`${slices}/a`, mergePatch, { endpoints: [{ addresses, deprecatedTopology: topology, nodeName: "m" }] }),
    get(`${slices}/a`),
  ]
}

function quotas(): RequestStep[] {
  const path = `${core}/resourcequotas`
  const metadata = { name: "a" }
  return [
    post(path, { metadata, spec: { hard: null, scopes: null, scopeSelector: null } }),
    put(`${path}/a`, { metadata, spec: { hard: {}, scopes: [], scopeSelector: null } }),
    put(`${path}/a`, { metadata, spec: { hard: { pods: null } } }),
    put(`${path}/a/status`, { metadata, status: { hard: null, used: {} } }),
    put(`${path}/a`, { metadata, spec: { scopeSelector: { matchExpressions: null } } }),
    post(path, { metadata: { name: "b" }, spec: { scopeSelector: {} } }),
    post(path, { metadata: { name: "c" }, spec: { scopeSelector: { matchExpressions: [] } } }),
    post(path, {
      metadata: { name: "d" },
      spec: { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists", values: null }] } },
    }),
    get(path),
  ]
}
