// Custom resources with a scale, which an autoscaler sets and a budget of their pods reads. Queues have no average: where a scale says that
// there are no pods, upstream's overflows.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { pod } from "../scenarios/service-steps.ts"
import { container, labels } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, reported, some } from "./family.ts"

const group = "scenarios.example.com/v1"
const podNames = ["p0", "p1", "p2", "p3", "p4"]
const thing: [string, string] = ["scaledthings", "web"]
const autoscaler: [string, string] = ["horizontalpodautoscalers", "web"]
const budget: [string, string] = ["poddisruptionbudgets", "web"]

export const customScales: Family = (random) => {
  const steps: (() => Step)[] = [
    () => ({ patch: thing, with: { spec: { replicas: pick(random, amounts) } } }),
    () => ({ patch: thing, with: { spec: { replicas: random(7) } }, subresource: "scale" }),
    () => ({ patch: thing, with: { status: randomStatus(random) } }),
    () => ({ patch: thing, with: { status: randomStatus(random) } }),
    () => ({ delete: thing, policy: "Orphan" }),
    () => randomThing(random),
    () => ({ patch: autoscaler, with: { spec: { minReplicas: 1 + random(3), maxReplicas: 3 + random(4) } } }),
    () => ({ patch: autoscaler, with: { spec: { scaleTargetRef: randomTarget(random) } } }),
    () => ({ queue: pick(random, ["0", "1", "10", "25", "80"]) }),
    () => ({ usage: { cpu: pick(random, ["10m", "52m", "90m", "250m"]), memory: "1Mi" } }),
    () => randomPod(random, pick(random, podNames)),
    () => randomPod(random, pick(random, podNames)),
    () => reported(random, ["ready", "unready", "succeeded"]),
    () => ({ evictPods: labels, count: 1 + random(3) }),
    () => ({ patch: budget, with: { spec: { minAvailable: null, maxUnavailable: null, ...randomLimits(random) } } }),
  ]
  const begin: Step[] = [
    randomThing(random),
    ...podNames.slice(random(4)).map((name) => randomPod(random, name)),
    { pods: "ready" },
    { queue: "10" },
    { usage: { cpu: "52m", memory: "1Mi" } },
    randomAutoscaler(random),
    {
      create: {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "web" },
        spec: { selector: { matchLabels: labels }, ...randomLimits(random) },
      },
    },
  ]
  return {
    nodes: "bound",
    steps: oneByOne([...begin, ...some(random, 4, 8, () => pick(random, steps)())].map(refusable)),
  }
}

/** Also such as no scale has. */
const amounts = [null, 0, 1, 2, 4, 6, -1, 1.5, "three", 3_000_000_000]

const randomStatus = (random: Random): object => ({
  ...maybe(random, 0.6, { replicas: pick(random, [null, 0, 1, 3, 5, "x"]) }),
  ...maybe(random, 0.6, {
    selector: pick(random, [null, "", "app=web", "app=web", "app in (web, other)", "app=nobody", "app==", 7]),
  }),
})

const randomThing = (random: Random): Step => ({
  create: {
    apiVersion: group,
    kind: "ScaledThing",
    metadata: { name: "web" },
    spec: maybe(random, 0.9, { replicas: random(6) }),
    status: { ...maybe(random, 0.8, { replicas: random(6) }), ...maybe(random, 0.9, { selector: "app=web" }) },
  },
})

/** All of one owner: whose scale fails first is left to chance. */
const owner = { apiVersion: group, kind: "ScaledThing", name: "web", uid: "UID:scaledthings/web", controller: true }

const randomPod = (random: Random, name: string): Step => {
  const requests = maybe(random, 0.9, { cpu: "100m" })
  const metadata = { labels, ...maybe(random, 0.8, { ownerReferences: [owner] }), ...maybe(random, 0.2, held) }
  return pod(name, { containers: [{ ...container("one"), resources: { requests } }] }, metadata)
}

const randomTarget = (random: Random): object =>
  pick(random, [
    { apiVersion: group, kind: "ScaledThing", name: "web" },
    { apiVersion: group, kind: "ScaledThing", name: "web" },
    { apiVersion: "scenarios.example.com/v9", kind: "ScaledThing", name: "web" },
    { apiVersion: group, kind: "ScaledThing", name: "nobody" },
    { apiVersion: group, kind: "Nothing", name: "web" },
    { apiVersion: group, kind: "Thing", name: "web" },
  ])

const randomMetric = (random: Random): object => {
  const utilization = { type: "Utilization", averageUtilization: pick(random, [20, 50, 80]) }
  const length = { type: "Value", value: pick(random, ["5", "10", "20"]) }
  return chance(random, 0.5)
    ? { type: "Resource", resource: { name: "cpu", target: utilization } }
    : { type: "External", external: { metric: { name: "queue" }, target: length } }
}

const randomAutoscaler = (random: Random): Step => ({
  create: {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web" },
    spec: {
      scaleTargetRef: { apiVersion: group, kind: "ScaledThing", name: "web" },
      minReplicas: 1 + random(3),
      maxReplicas: 3 + random(4),
      metrics: some(random, 1, 2, () => randomMetric(random)),
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  },
})

const randomLimits = (random: Random): object => {
  const amount = pick(random, [0, 1, 2, 4, "0%", "30%", "50%", "100%"])
  return chance(random, 0.4) ? { minAvailable: amount } : { maxUnavailable: amount }
}
