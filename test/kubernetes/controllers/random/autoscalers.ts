// HorizontalPodAutoscalers: pods that use much or little, or of which nobody knows, and queues of any length.

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
    () => reported(random, ["ready", "unready", "succeeded", { exit: 1 }]),
    () => scale(random(7), resource),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => patched({ metrics: randomMetrics(random) }),
    () => patched({ minReplicas: 1 + random(3), maxReplicas: 3 + random(6) }),
    () => patched({ behavior: randomBehavior(random) }),
  ]
  const stateful = { serviceName: "web", podManagementPolicy: "Parallel" }
  const spec = { replicas: random(5), template: randomTemplate(random), ...(kind === "StatefulSet" ? stateful : {}) }
  return {
    nodes: pick(random, ["ready", "ready", "bound"] as const),
    steps: oneByOne([
      workload(kind, spec),
      ...(chance(random, 0.8) ? [used(random), queued(random)] : []),
      randomAutoscaler(random, kind),
      ...some(random, 3, 7, () => pick(random, steps)()),
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

function randomTemplate(random: Random): object {
  const requests = { ...maybe(random, 0.9, { cpu: "100m" }), ...maybe(random, 0.7, { memory: "50Mi" }) }
  const second = { ...container("two"), name: "d", resources: { requests: { cpu: "50m" } } }
  const containers = [{ ...container("one"), resources: { requests } }, ...(chance(random, 0.3) ? [second] : [])]
  return { metadata: { labels }, spec: { containers } }
}

const randomMetric = (random: Random): object => {
  const name = pick(random, ["cpu", "cpu", "memory"])
  const utilization = { type: "Utilization", averageUtilization: pick(random, [20, 50, 80]) }
  const average = { type: "AverageValue", averageValue: pick(random, ["30m", "50m", "10", "50Mi"]) }
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

/** What is decided does not depend on what was a while ago. */
function randomBehavior(random: Random): object {
  const policies = (): object[] => [
    { type: pick(random, ["Pods", "Percent"]), value: pick(random, [100, 200]), periodSeconds: 1 },
  ]
  const rules = (): object => ({
    stabilizationWindowSeconds: 0,
    policies: policies(),
    ...maybe(random, 0.15, { selectPolicy: pick(random, ["Disabled", "Min"]) }),
    ...maybe(random, 0.2, { tolerance: pick(random, ["0", "500m"]) }),
  })
  return { scaleUp: rules(), scaleDown: rules() }
}

function randomAutoscaler(random: Random, kind: string): Step {
  return {
    create: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind, name: "web" },
        minReplicas: 1 + random(3),
        maxReplicas: 3 + random(6),
        metrics: randomMetrics(random),
        behavior: randomBehavior(random),
      },
    },
  }
}
