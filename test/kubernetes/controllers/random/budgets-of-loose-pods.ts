// PodDisruptionBudgets of pods that have no owner, or an unusual one, and whose statuses somebody else writes too.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { pod } from "../scenarios/service-steps.ts"
import { labels, workload } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, reported, some } from "./family.ts"

const podNames = ["p0", "p1", "p2", "p3", "p4", "p5"]

export const budgetsOfLoosePods: Family = (random) => {
  const owner = ownerOf(random)
  const newPod = (): Step => randomPod(random, pick(random, podNames), owner)
  const steps: (() => Step)[] = [
    newPod,
    newPod,
    () => reported(random, ["ready", "ready", "unready", "succeeded", { exit: 1 }]),
    () => ({ pods: "ready" }),
    () => ({ evictPods: labels, count: 1 + random(4) }),
    () => ({ evictPods: labels, count: 1 + random(4) }),
    () => ({ deletePods: labels, count: 1 }),
    () => ({ patch: ["pods", pick(random, podNames)], with: { metadata: randomMetadata(random) } }),
    () => ({ patch: budget, with: { spec: { ...noLimits, ...randomLimits(random) } } }),
    () => ({ patch: budget, with: { spec: { unhealthyPodEvictionPolicy: pick(random, [null, ...policies]) } } }),
    () => ({ patch: budget, with: { status: randomStatus(random) }, subresource: "status" }),
    () => ({ patch: ["things", "owner"], with: { spec: { replicas: random(6) } } }),
    () => ({ patch: ["replicasets", "web"], with: { spec: { replicas: random(4) } } }),
    () => ({ delete: ["things", "owner"], policy: "Orphan" }),
    () => ({ delete: budget }),
    () => randomBudget(random),
  ]
  const begin: Step[] = [
    {
      create: {
        apiVersion: "scenarios.example.com/v1",
        kind: "Thing",
        metadata: { name: "owner" },
        spec: { replicas: 3 },
      },
    },
    workload("ReplicaSet", { replicas: 2, selector: { matchLabels: others }, template: ofOthers }),
    ...podNames.slice(random(4)).map((name) => randomPod(random, name, owner)),
    { pods: "ready" },
    randomBudget(random),
  ]
  return {
    nodes: pick(random, ["bound", "bound", "ready"] as const),
    steps: oneByOne([...begin, ...some(random, 5, 10, () => pick(random, steps)()).map(refusable)]),
  }
}

const budget: [string, string] = ["poddisruptionbudgets", "budget"]
const policies = ["AlwaysAllow", "IfHealthyBudget"]
const others = { set: "web" }
const ofOthers = { metadata: { labels: { ...others, ...labels } }, spec: { containers: [{ name: "c", image: "one" }] } }

const randomPod = (random: Random, name: string, owner: object): Step =>
  pod(name, {}, { labels, ...maybe(random, 0.3, { ownerReferences: [owner] }), ...maybe(random, 0.2, held) })

/** One of those of which nobody knows how many pods they want is reported: which of several is left to chance. */
const ownerOf = (random: Random): object =>
  pick(random, [
    { apiVersion: "scenarios.example.com/v1", kind: "Thing", name: "owner", uid: "UID:things/owner", controller: true },
    { apiVersion: "scenarios.example.com/v1", kind: "Thing", name: "owner", uid: "UID:things/owner" },
    { apiVersion: "v1", kind: "Namespace", name: "NAMESPACE", uid: "UID:namespaces/NAMESPACE", controller: true },
  ])

const randomMetadata = (random: Random): object =>
  pick<object>(random, [
    { labels: { app: pick(random, ["web", "other"]) } },
    { finalizers: pick(random, [null, held.finalizers]) },
    { ownerReferences: null },
    { annotations: { touched: String(random(100)) } },
  ])

const noLimits = { minAvailable: null, maxUnavailable: null }
const amounts = [0, 1, 2, 4, "0%", "30%", "50%", "100%"]
const randomLimits = (random: Random): object =>
  pick<object>(random, [{ minAvailable: pick(random, amounts) }, { maxUnavailable: pick(random, amounts) }])

/** Of pods that should have been deleted long ago, or have to be much later. */
const randomStatus = (random: Random): object => ({
  ...maybe(random, 0.7, {
    disruptedPods: Object.fromEntries(
      podNames
        .filter(() => random(3) === 0)
        .map((name) => [name, pick(random, ["2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"])]),
    ),
  }),
  ...maybe(random, 0.4, { disruptionsAllowed: random(5), observedGeneration: random(4) }),
  ...maybe(random, 0.3, { conditions: [] }),
})

const randomBudget = (random: Random): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "budget" },
    spec: {
      selector: { matchLabels: labels },
      ...randomLimits(random),
      ...maybe(random, 0.6, { unhealthyPodEvictionPolicy: pick(random, policies) }),
    },
  },
})
