// ResourceQuotas: what comes, goes and changes, whether it is counted, and what is refused.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { config, pod } from "../scenarios/deletion-steps.ts"
import { labels, scale, template, workload } from "../scenarios/steps.ts"
import { type Family, instead, maybe, oneByOne, some } from "./family.ts"

export const quotas: Family = (random) => {
  const made: [resource: string, name: string][] = []
  const create = (): Step => {
    const [resource, make] = pick(random, makers)
    const name = `o${made.length}`
    made.push([resource, name])
    return make(random, name)
  }
  const steps: (() => Step)[] = [
    create,
    create,
    create,
    create,
    () => ({ delete: pick(random, made) }),
    () => ({ delete: pick(random, made) }),
    () => changed(random, pick(random, quotaNames), []),
    () => changed(random, pick(random, quotaNames), names),
    () => randomQuota(random, pick(random, quotaNames)),
    () => ({ delete: ["resourcequotas", pick(random, quotaNames)] }),
    () => ({ pods: pick(random, ["ready", "succeeded", { exit: 1 }]), count: 1 + random(2) }),
    () => ({ deletePods: {}, count: 1 + random(2) }),
    () => ({ patch: pick(random, made), with: randomChange(random) }),
    () => workload("ReplicaSet", { replicas: random(5) }),
    () => scale(random(6), "replicasets"),
  ]
  return {
    nodes: "bound",
    steps: oneByOne(
      [
        ...some(random, 0, 2, create),
        randomQuota(random, "a"),
        ...(chance(random, 0.5) ? [randomQuota(random, "b")] : []),
        create(),
        ...some(random, 5, 10, () => pick(random, steps)()),
      ].map((step): Step => ({ ...step, mayBeRefused: true })),
    ),
  }
}

/** Only the first refuses: which of several is asked first is left to chance. */
const strict = "a"
const quotaNames = [strict, "b", "c"]

/** Below what is there, as much as there is, or room. */
const amountsOf: Readonly<Record<string, readonly string[]>> = {
  pods: ["0", "1", "3", "10"],
  "count/pods": ["1", "4"],
  "requests.cpu": ["150m", "1", "2500m"],
  cpu: ["300m", "2"],
  "limits.memory": ["100Mi", "1Gi"],
  "requests.ephemeral-storage": ["1Gi"],
  configmaps: ["1", "3", "10"],
  "count/configmaps": ["2", "10"],
  secrets: ["0", "3"],
  "count/secrets": ["1", "5"],
  services: ["1", "3"],
  "services.nodeports": ["0", "2", "5"],
  "services.loadbalancers": ["0", "1"],
  persistentvolumeclaims: ["1", "5"],
  "requests.storage": ["1Gi", "5Gi"],
  "gold.storageclass.storage.k8s.io/requests.storage": ["0", "3Gi"],
  "gold.storageclass.storage.k8s.io/persistentvolumeclaims": ["1"],
  "count/jobs.batch": ["0", "2"],
  "count/replicasets.apps": ["1", "5"],
  "count/endpointslices.discovery.k8s.io": ["10"],
  replicationcontrollers: ["1"],
  resourcequotas: ["2", "5"],
  "count/deployments.apps": ["0", "2"],
  "count/cronjobs.batch": ["1"],
  "count/leases.coordination.k8s.io": ["0", "2"],
  "count/persistentvolumeclaims": ["1", "4"],
  "count/serviceaccounts": ["1", "3"],
  memory: ["10Mi", "1Gi"],
  "limits.cpu": ["1", "5"],
  "requests.example.com/gpu": ["2"],
}
const names = Object.keys(amountsOf)
/** Pods have to say how much they ask for. */
const requestQuotas = new Set(["requests.cpu", "cpu", "memory", "limits.cpu", "limits.memory"])
const ofPods = new Set(["pods", ...requestQuotas])

function randomHard(random: Random, quota: string, isOfPods = false): object {
  const isStrict = quota === strict
  const fits = (name: string): boolean => (isStrict || !requestQuotas.has(name)) && (!isOfPods || ofPods.has(name))
  const chosen = names.filter((name) => chance(random, isOfPods ? 0.5 : 0.25) && fits(name))
  const all = chosen.length === 0 ? ["pods"] : chosen
  return Object.fromEntries(all.map((name) => [name, isStrict ? pick(random, amountsOf[name] ?? []) : "1T"]))
}

const classes = [
  { scopeName: "PriorityClass", operator: "Exists" },
  { scopeName: "PriorityClass", operator: "In", values: ["system-cluster-critical"] },
  { scopeName: "PriorityClass", operator: "NotIn", values: ["system-cluster-critical"] },
  { scopeName: "CrossNamespacePodAffinity", operator: "Exists" },
]

function randomQuota(random: Random, name: string): Step {
  const scopes = pick<object>(random, [
    ...["BestEffort", "NotBestEffort", "Terminating", "NotTerminating"].map((scope) => ({ scopes: [scope] })),
    ...["BestEffort", "Terminating"].map((scopeName) => ({
      scopeSelector: { matchExpressions: [{ scopeName, operator: "Exists" }] },
    })),
    { scopes: ["BestEffort"], scopeSelector: { matchExpressions: [classes[1]] } },
    { scopes: ["NotBestEffort", "NotTerminating"] },
    ...classes.map((expression) => ({ scopeSelector: { matchExpressions: [expression] } })),
  ])
  const isScoped = chance(random, 0.35)
  const spec = { hard: randomHard(random, name, isScoped), ...(isScoped ? scopes : {}) }
  return { create: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name }, spec } }
}

const changed = (random: Random, name: string, without: readonly string[]): Step => ({
  patch: ["resourcequotas", name],
  with: { spec: { hard: instead(without, randomHard(random, name)) } },
})

type Maker = (random: Random, name: string) => Step

const amountsOfPods = [
  {},
  { requests: { cpu: "100m" } },
  { requests: { cpu: "100m", memory: "10Mi" }, limits: { cpu: "1", memory: "50Mi" } },
  { limits: { cpu: "500m", memory: "20Mi", "example.com/gpu": "1" } },
]

/** For all containers together. */
const ofWholePods = [
  { requests: { cpu: "400m", memory: "30Mi" } },
  { requests: { cpu: "200m" }, limits: { cpu: "2", memory: "80Mi" } },
  { limits: { memory: "60Mi" } },
]

const randomPod: Maker = (random, name) => {
  const affinity = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: labels }, namespaces: ["default"], topologyKey: "kubernetes.io/hostname" },
      ],
    },
  }
  const initContainers = [
    { name: "i", image: "one", resources: { requests: { cpu: "300m" }, limits: { memory: "1Mi" } } },
  ]
  const spec = {
    ...maybe(random, 0.2, { activeDeadlineSeconds: 1000 }),
    ...maybe(random, 0.2, { priorityClassName: "system-cluster-critical" }),
    ...maybe(random, 0.15, { affinity }),
    ...maybe(random, 0.2, { initContainers }),
    ...maybe(random, 0.15, { overhead: { cpu: "10m" } }),
    ...maybe(random, 0.15, { resources: pick(random, ofWholePods) }),
  }
  return pod(name, spec, pick(random, amountsOfPods))
}

const randomService: Maker = (random, name) => {
  const port = [80, 81].slice(random(2)).map((number) => ({ name: `p${number}`, port: number }))
  const spec = pick<object>(random, [
    {},
    { type: "NodePort" },
    { type: "LoadBalancer" },
    unnumbered,
    { clusterIP: "None" },
  ])
  return { create: { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: port, ...spec } } }
}
const unnumbered = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false }

const randomClaim: Maker = (random, name) => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: pick(random, ["gold", "none"]),
      resources: { requests: { storage: pick(random, ["500Mi", "1Gi", "2Gi"]) } },
    },
  },
})

const ended = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "one" }] } }

/** Suspended: when pods that were refused are tried again is left to chance. */
const suspendedJob: Maker = (_random, name) => ({
  create: {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      suspend: true,
      template: ended,
    },
  },
})

const plain = (apiVersion: string, kind: string, name: string): Step => ({
  create: { apiVersion, kind, metadata: { name } },
})

const withoutPods: Maker = (_random, name) => ({
  create: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { of: name } },
      template: { ...template(), metadata: { labels: { of: name } } },
    },
  },
})

const suspendedCronJob: Maker = (_random, name) => ({
  create: {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name },
    spec: { schedule: "0 0 1 1 *", suspend: true, jobTemplate: { spec: { template: ended } } },
  },
})

const makers: readonly [string, Maker][] = [
  ["configmaps", (_random, name) => config(name)],
  ["secrets", (_random, name) => ({ create: { apiVersion: "v1", kind: "Secret", metadata: { name } } })],
  ["services", randomService],
  ["persistentvolumeclaims", randomClaim],
  ["pods", randomPod],
  ["pods", randomPod],
  ["jobs", suspendedJob],
  ["deployments", withoutPods],
  ["cronjobs", suspendedCronJob],
  ["leases", (_random, name) => plain("coordination.k8s.io/v1", "Lease", name)],
  ["serviceaccounts", (_random, name) => plain("v1", "ServiceAccount", name)],
]

/** Of whatever it is: what does not fit is refused, or pruned. */
const randomChange = (random: Random): object =>
  pick(random, [
    { metadata: { labels: { touched: "x" } } },
    { metadata: { finalizers: ["example.com/hold"] } },
    { spec: { type: pick(random, ["ClusterIP", "NodePort", "LoadBalancer"]) } },
    { spec: { activeDeadlineSeconds: 500 } },
    { spec: { resources: { requests: { storage: "4Gi" } } } },
    { metadata: { finalizers: null } },
  ])
