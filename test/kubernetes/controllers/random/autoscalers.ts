// HorizontalPodAutoscalers: pods with high, low or unknown usage, and queues of any length.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { container, labels, scale, workload } from "../scenarios/steps.ts"
import { type Family, maybe, oneByOne, reported, some } from "./family.ts"

const kinds = ["Deployment", "Deployment", "ReplicaSet", "StatefulSet"] as const

export const autoscalers: Family = (random) => {
  const kind = pick(random, kinds)
  const resource = `${kind.toLowerCase()}s`
  const patched = (spec: object): Step => ({ patch: ["horizontalpodautoscalers", "web"], with: { spec } })
  const steps: (() => Step)[] = [
    () => used(random),
    () => used(random),
    () => used(random),
    () => queued(random),
    () => queued(random),
    () => served(random),
    () => served(random),
    () => reported(random, ["ready", "unready", "succeeded", { exit: 1 }]),
    () => scale(random(7), resource),
    () => ({ patch: [resource, "web"], with: { spec: { template: randomTemplate(random) } } }),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => patched({ metrics: randomMetrics(random) }),
    () => patched({ minReplicas: 1 + random(3), maxReplicas: 3 + random(6) }),
    () => patched({ behavior: randomBehavior(random) }),
    () =>
      patched({ scaleTargetRef: pick<object>(random, [{ name: "nobody" }, { name: "web", kind }, { kind: "Thing" }]) }),
    () => ({ delete: ["horizontalpodautoscalers", "web"] }),
    () => ({ ...randomAutoscaler(random, kind, pick(random, ["web", "other"])), mayBeRefused: true }),
    () => older(random, kind),
  ]
  const stateful = { serviceName: "web", podManagementPolicy: "Parallel" }
  const spec = { replicas: random(5), template: randomTemplate(random), ...(kind === "StatefulSet" ? stateful : {}) }
  return {
    nodes: pick(random, ["ready", "ready", "bound"] as const),
    steps: oneByOne([
      workload(kind, spec),
      ...(chance(random, 0.8) ? [used(random), queued(random), served(random), served(random)] : []),
      randomAutoscaler(random, kind),
      ...some(random, 3, 7, (): Step => ({ ...pick(random, steps)(), mayBeRefused: true })),
    ]),
  }
}

const used = (random: Random): Step => ({
  usage: {
    cpu: pick(random, ["0", "10m", "48m", "52m", "90m", "250m"]),
    memory: pick(random, ["1Mi", "20Mi", "300Mi"]),
  },
  ...maybe(random, 0.3, { count: 1 + random(3) }),
})

const queued = (random: Random): Step => ({ queue: pick(random, ["0", "1", "500m", "10", "25", "80"]) })

const verbs = ["verb=GET", ""] as const

/** What adapters would say of pods, of a Service and of its Deployment, and of the namespace. */
const served = (random: Random): Step => {
  const value = pick(random, ["0", "5", "700m", "12", "40", "1500"])
  const selector = pick(random, verbs)
  const of = (resource: string, metric: string, name: string): Step => ({
    custom: { resource, metric, selector },
    // A request for one object may return none, or several.
    is: some(random, chance(random, 0.1) ? 0 : 1, chance(random, 0.1) ? 2 : 1, () => ({ name, value })),
  })
  return pick<() => Step>(random, [
    () => ({
      custom: { resource: "pods", metric: "requests", selector },
      is: value,
      ...maybe(random, 0.3, few(random)),
    }),
    () => ({
      custom: { resource: "pods", metric: "requests", selector },
      is: value,
      ...maybe(random, 0.3, few(random)),
    }),
    () => of("services", "hits", "web"),
    () => of("deployments.apps", "hits", "web"),
    () => of("metrics", "hits", "NAMESPACE"),
  ])()
}

const few = (random: Random): object => ({ count: random(3) })

const described = [
  { apiVersion: "v1", kind: "Service", name: "web" },
  { apiVersion: "v1", kind: "Service", name: "web" },
  { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  { kind: "Namespace", name: "NAMESPACE" },
  { apiVersion: "v1", kind: "Namespace", name: "another" },
  { apiVersion: "v1", kind: "Service", name: "nobody" },
  { apiVersion: "example.com/v1", kind: "Nothing", name: "web" },
]

function randomCustomMetric(random: Random): object {
  const selector = pick(random, [{ selector: { matchLabels: { verb: "GET" } } }, {}, {}])
  const average = { type: "AverageValue", averageValue: pick(random, ["500m", "5", "10"]) }
  const value = { type: "Value", value: pick(random, ["500m", "10", "20"]) }
  const metric = (name: string): object => ({ name, ...selector })
  const pods = { metric: metric(pick(random, ["requests", "requests", "requests", "nobody"])), target: average }
  if (chance(random, 0.5)) return { type: "Pods", pods }
  const target = pick<object>(random, [average, value])
  return { type: "Object", object: { metric: metric("hits"), describedObject: pick(random, described), target } }
}

function randomTemplate(random: Random): object {
  const requests = { ...maybe(random, 0.9, { cpu: "100m" }), ...maybe(random, 0.7, { memory: "50Mi" }) }
  const second = { ...container("two"), name: "d", resources: { requests: { cpu: "50m" } } }
  const containers = [{ ...container("one"), resources: { requests } }, ...(chance(random, 0.3) ? [second] : [])]
  const sidecar = { ...container("three"), name: "s", restartPolicy: "Always", resources: { requests: { cpu: "50m" } } }
  const first = { ...container("four"), name: "i", resources: { requests: { cpu: "150m" } } }
  const init = maybe(random, 0.2, { initContainers: pick(random, [[sidecar], [first], [first, sidecar]]) })
  const ofPod = pick<object>(random, [{ cpu: "250m" }, { memory: "100Mi" }, { cpu: "200m", memory: "60Mi" }])
  return {
    metadata: { labels },
    spec: { containers, ...init, ...maybe(random, 0.2, { resources: { requests: ofPod } }) },
  }
}

const randomMetric = (random: Random): object =>
  chance(random, 0.4) ? randomCustomMetric(random) : randomResourceMetric(random)

function randomResourceMetric(random: Random): object {
  const name = pick(random, ["cpu", "cpu", "memory"])
  const utilization = { type: "Utilization", averageUtilization: pick(random, [20, 50, 80]) }
  // Bytes in thousandths would be more pods than upstream can count: its numbers overflow.
  const amounts = name === "cpu" ? ["30m", "50m", "10"] : ["10", "1Mi", "50Mi"]
  const average = { type: "AverageValue", averageValue: pick(random, amounts) }
  const target = pick<object>(random, [utilization, utilization, average])
  const length = pick<object>(random, [
    { type: "AverageValue", averageValue: pick(random, ["5", "10"]) },
    { type: "Value", value: pick(random, ["10", "20"]) },
  ])
  return pick<object>(random, [
    { type: "Resource", resource: { name, target } },
    { type: "Resource", resource: { name, target } },
    { type: "ContainerResource", containerResource: { name, container: pick(random, ["c", "c", "d"]), target } },
    { type: "External", external: { metric: { name: "queue" }, target: length } },
    { type: "External", external: { metric: { name: "queue" }, target: length } },
    { type: "External", external: { metric: { name: "nobody" }, target: length } },
  ])
}

const randomMetrics = (random: Random): object[] => some(random, 1, 2, () => randomMetric(random))

/** What is decided depends on nothing that was a while ago, or on all since the beginning. */
function randomBehavior(random: Random): object {
  const policy = (): object =>
    pick<object>(random, [
      { type: "Pods", value: 100, periodSeconds: 1 },
      { type: "Percent", value: pick(random, [100, 200]), periodSeconds: 1 },
      { type: "Pods", value: 1 + random(3), periodSeconds: 1800 },
      { type: "Percent", value: pick(random, [25, 50, 100]), periodSeconds: 1800 },
    ])
  const rules = (): object => ({
    stabilizationWindowSeconds: pick(random, [0, 0, 0, 3600]),
    policies: some(random, 1, 2, policy),
    ...maybe(random, 0.15, { selectPolicy: pick(random, ["Disabled", "Min"]) }),
    ...maybe(random, 0.2, { tolerance: pick(random, ["0", "500m"]) }),
  })
  return { scaleUp: rules(), scaleDown: rules() }
}

/** Of the version that knows one metric. */
const older = (random: Random, kind: string): Step => ({
  create: {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind, name: "web" },
      maxReplicas: 3 + random(6),
      ...maybe(random, 0.7, { targetCPUUtilizationPercentage: pick(random, [20, 50, 80]) }),
    },
  },
})

function randomAutoscaler(random: Random, kind: string, name = "web"): Step {
  return {
    create: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind, name: "web" },
        minReplicas: 1 + random(3),
        maxReplicas: 3 + random(6),
        metrics: randomMetrics(random),
        ...maybe(random, 0.8, { behavior: randomBehavior(random) }),
      },
    },
  }
}
