// Rarely used fields: requests of claims, a class of a pod, a rollout of a DaemonSet that has none, a Secret's other type,
// fields of removed features, fractions of a second.

import type { Json } from "../../../../apimachinery/object.ts"
import { applyPatch, get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"

const core = "/api/v1/namespaces/@{ns}"

export function seldomFieldCases(): Scenario[] {
  return [
    { name: "containers ask for parts of claims", steps: claims() },
    { name: "a pod is made with a class", steps: classes() },
    { name: "a DaemonSet has a rollout it does not use", steps: rollouts() },
    { name: "a secret gets another type", steps: types() },
    { name: "a node is given a kubelet configuration", steps: configurations() },
    { name: "an endpoint slice is given the topology of v1beta1", steps: topologies() },
    { name: "times in a template have fractions of a second", steps: fractions() },
    { name: "times that may not change get fractions of a second", steps: fixedFractions() },
    { name: "lists of a quota are nothing", steps: quotas() },
    { name: "texts that may not change are printed as what they are", steps: fixedTexts() },
    { name: "a storage class has the same topology twice", steps: allowedTopologies() },
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
  const node = { apiVersion: "v1", kind: "Node", metadata }
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
    // Its managers remain, of fields that a configuration does not have to give.
    put(`${path}?fieldManager=one`, { metadata, spec: { taints, configSource: { configMap } } }),
    ...["", "&force=true"].map((force) =>
      patch(`${path}?fieldManager=two${force}`, applyPatch, { ...node, spec: { configSource: { configMap: {} } } }),
    ),
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

/** Workloads with a template, each with its path and the other fields of its spec. */
const workloads: readonly [string, string, { [field: string]: Json }][] = [
  [core, "replicationcontrollers", { selector: { a: "b" } }],
  ["/apis/apps/v1/namespaces/@{ns}", "deployments", { selector: { matchLabels: { a: "b" } } }],
  ["/apis/apps/v1/namespaces/@{ns}", "replicasets", { selector: { matchLabels: { a: "b" } } }],
  ["/apis/apps/v1/namespaces/@{ns}", "daemonsets", { selector: { matchLabels: { a: "b" } } }],
  ["/apis/apps/v1/namespaces/@{ns}", "statefulsets", { selector: { matchLabels: { a: "b" } } }],
]

const container = { name: "main", image: "busybox" }

function fractions(): RequestStep[] {
  const times = [
    "2024-01-02T03:04:05.678Z",
    "2024-01-02T03:04:05.999999999+01:00",
    "2024-01-02T03:04:05,5Z",
    "2024-01-02T03:04:05.000Z",
    "2024-01-02T03:04:05.0000000001Z",
  ]
  return times.flatMap((time, index) => {
    const metadata = { labels: { a: "b" }, creationTimestamp: time, deletionTimestamp: time }
    const template = { metadata, spec: { containers: [container] } }
    const name = `a${index}`
    return [
      ...writes(`${core}/podtemplates`, { metadata: { name }, template }),
      ...workloads.flatMap(([at, plural, spec]) =>
        writes(`${at}/${plural}`, { metadata: { name }, spec: { ...spec, template } }),
      ),
    ]
  })
}

/** The object is created, and written again as it was given, as it was read, and with a patch. */
function writes(path: string, object: { metadata: { name: string } } & { [field: string]: Json }): RequestStep[] {
  const own = `${path}/${object.metadata.name}`
  return [post(path, object), put(own, object), patch(own, mergePatch, {}), patch(own, mergePatch, object), get(own)]
}

function fixedFractions(): RequestStep[] {
  const batch = "/apis/batch/v1/namespaces/@{ns}"
  const creationTimestamp = "2024-01-02T03:04:05.678Z"
  const later = "2024-01-02T03:04:06.1Z"
  const selector = { matchLabels: { a: "b" } }
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } }
  const resources = { requests: { storage: "1" } }
  const claim = { metadata: { name: "c", creationTimestamp }, spec: { accessModes: ["ReadWriteOnce"], resources } }
  const jobTemplate = { ...template, spec: { ...template.spec, restartPolicy: "Never" } }
  const timed = { ...jobTemplate, metadata: { creationTimestamp } }
  const conditions = [
    { type: "SuccessCriteriaMet", status: "True" },
    { type: "Complete", status: "True" },
  ]
  const status = { startTime: creationTimestamp, completionTime: later, conditions }
  return [
    ...writes("/apis/apps/v1/namespaces/@{ns}/statefulsets", {
      metadata: { name: "a" },
      spec: { selector, template, volumeClaimTemplates: [claim] },
    }),
    ...writes(`${batch}/jobs`, { metadata: { name: "a" }, spec: { template: timed } }),
    ...writes(`${batch}/jobs`, { metadata: { name: "b" }, spec: { suspend: true, template: timed } }),
    ...[{ startTime: creationTimestamp }, { startTime: creationTimestamp }, status, status].map((reported) =>
      patch(`${batch}/jobs/a/status`, mergePatch, { status: reported }),
    ),
    ...writes(`${batch}/cronjobs`, {
      metadata: { name: "a" },
      spec: {
        schedule: "* * * * *",
        jobTemplate: { metadata: { creationTimestamp }, spec: { template: jobTemplate } },
      },
    }),
    ...writes(`/apis/events.k8s.io/v1/namespaces/@{ns}/events`, {
      metadata: { name: "a" },
      eventTime: "2024-01-02T03:04:05.678901Z",
      reportingController: "k8s.io/a",
      reportingInstance: "a",
      action: "a",
      reason: "a",
      type: "Normal",
      regarding: { namespace: "@{ns}" },
    }),
    patch(`/apis/events.k8s.io/v1/namespaces/@{ns}/events/a`, mergePatch, { deprecatedLastTimestamp: later }),
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
    post(path, { metadata: { name: "s" }, spec: { scopes: ["BestEffort"] } }),
    put(`${path}/s`, { metadata: { name: "s" }, spec: { scopes: [] } }),
    put(`${path}/s`, { metadata: { name: "s" }, spec: {} }),
    patch(`${path}/s?fieldManager=m&force=true`, applyPatch, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      spec: { scopes: [] },
    }),
    post(path, { metadata: { name: "b" }, spec: { scopeSelector: {} } }),
    post(path, { metadata: { name: "c" }, spec: { scopeSelector: { matchExpressions: [] } } }),
    post(path, {
      metadata: { name: "d" },
      spec: { scopeSelector: { matchExpressions: [{ scopeName: "BestEffort", operator: "Exists", values: null }] } },
    }),
    get(path),
  ]
}

/** Those that are no plain strings upstream are printed as JSON, in which other characters are escaped. */
function fixedTexts(): RequestStep[] {
  const jobs = "/apis/batch/v1/namespaces/@{ns}/jobs"
  const slices = "/apis/resource.k8s.io/v1/resourceslices"
  const classes = "/apis/storage.k8s.io/v1/storageclasses"
  const priorities = "/apis/scheduling.k8s.io/v1/priorityclasses"
  const odd = "<a>&\u2028"
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } }
  const pool = { name: "p", resourceSliceCount: 1 }
  return [
    post(jobs, { metadata: { name: "a" }, spec: { template, managedBy: "example.com/a" } }),
    patch(`${jobs}/a`, mergePatch, { spec: { managedBy: odd, completionMode: odd } }),
    post(slices, { metadata: { name: "a-@{id}" }, spec: { driver: "example.com", nodeName: "n", pool } }),
    patch(`${slices}/a-@{id}`, mergePatch, { spec: { driver: odd, nodeName: odd, pool: { name: odd } } }),
    post(classes, { metadata: { name: "a-@{id}" }, provisioner: "example.com/a" }),
    patch(`${classes}/a-@{id}`, mergePatch, { provisioner: odd, reclaimPolicy: odd, volumeBindingMode: odd }),
    post(priorities, { metadata: { name: "a-@{id}" }, value: 1 }),
    patch(`${priorities}/a-@{id}`, mergePatch, { preemptionPolicy: odd }),
    remove(`${priorities}/a-@{id}`),
  ]
}

function allowedTopologies(): RequestStep[] {
  const expressions: Json[] = [
    [{ key: "a", values: ["1", "2"] }],
    [{ key: "a", values: ["2", "1", "1"] }],
    [{ key: "a" }, { key: "a", values: ["1", "2"] }],
    [{ key: "a", values: ["1", "2"] }, { key: "a" }],
    [{ key: "a", values: ["1"] }, { key: "b" }],
    [],
  ]
  return expressions.map((matchLabelExpressions, index) =>
    post(
      "/apis/storage.k8s.io/v1/storageclasses?dryRun=All",
      {
        metadata: { name: "a-@{id}" },
        provisioner: "example.com/a",
        allowedTopologies: [{ matchLabelExpressions: expressions[0] ?? [] }, { matchLabelExpressions }],
      },
      { label: `POST topology ${index}` },
    ),
  )
}
