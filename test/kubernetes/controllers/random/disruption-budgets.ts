// PodDisruptionBudgets of pods that come, go, fail and are evicted.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { pod } from "../scenarios/service-steps.ts"
import { labels, scale, template, workload } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, reported, some } from "./family.ts"

/** Their ControllerRevisions go with them, and with those what names of hashes stand for. */
const revised: ReadonlySet<string> = new Set(["StatefulSet", "DaemonSet"])
const kinds = ["Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"] as const

export const disruptionBudgets: Family = (random) => {
  const kind = pick(random, kinds)
  const budgets = pick(random, [["alone"], ["a", "b"]])
  const resource = `${kind.toLowerCase()}s`
  let alone = 0
  const newPod = (): Step => pod(`p${alone++}`, {}, { labels: { ...labels, ...maybe(random, 0.4, { tier: "a" }) } })
  const steps: (() => Step)[] = [
    () => reported(random, ["ready", "ready", "unready", "succeeded", { exit: 1 }]),
    () => ({ pods: "ready" }),
    () => ({ evictPods: labels, count: 1 + random(3) }),
    () => ({ evictPods: labels, count: 1 + random(3) }),
    () => ({ evictPods: { tier: "a" }, count: 1 }),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => (kind === "DaemonSet" ? newPod() : scale(random(6), resource)),
    () => ({
      patch: ["poddisruptionbudgets", pick(random, budgets)],
      with: { spec: { minAvailable: null, maxUnavailable: null, ...randomLimits(random) } },
    }),
    () => {
      const name = pick(random, budgets)
      return { patch: ["poddisruptionbudgets", name], with: { spec: { selector: randomSelector(random, name) } } }
    },
    () => randomBudget(random, pick(random, budgets)),
    () => ({ delete: ["poddisruptionbudgets", pick(random, budgets)] }),
    () => ({
      delete: [resource, "web"],
      policy: pick(random, revised.has(kind) ? ["Orphan"] : ["Background", "Orphan"]),
    }),
    newPod,
  ]
  const spec = { template: randomTemplate(random), ...(kind === "StatefulSet" ? stateful : {}) }
  const begin = [
    workload(kind, { ...spec, ...(kind === "DaemonSet" ? {} : { replicas: random(6) }) }),
    ...(chance(random, 0.3) ? [newPod()] : []),
  ]
  return {
    nodes: pick(random, ["bound", "bound", "ready"] as const),
    steps: oneByOne([
      ...begin,
      { pods: "ready" },
      ...budgets.map((name) => randomBudget(random, name)),
      ...some(random, 4, 9, (): Step => ({ ...pick(random, steps)(), mayBeRefused: true })),
    ]),
  }
}

const stateful = { serviceName: "web", podManagementPolicy: "Parallel" }

function randomTemplate(random: Random): object {
  return {
    ...template(),
    metadata: { labels: { ...labels, ...maybe(random, 0.3, { tier: "a" }) }, ...maybe(random, 0.15, held) },
  }
}

const amounts = [0, 1, 2, 3, 5, "0%", "20%", "34%", "50%", "75%", "100%"]

const randomLimits = (random: Random): object =>
  chance(random, 0.5) ? { minAvailable: pick(random, amounts) } : { maxUnavailable: pick(random, amounts) }

/** Two budgets share no pods: which of them gets the event of a pod would be arbitrary. */
const noTier = { key: "tier", operator: "DoesNotExist" }
const selectors: Readonly<Record<string, readonly (object | null)[]>> = {
  alone: [{ matchLabels: labels }, { matchLabels: labels }, { matchExpressions: [noTier] }, {}, null],
  a: [{ matchExpressions: [noTier] }, { matchLabels: labels, matchExpressions: [noTier] }, null],
  b: [{ matchLabels: { tier: "a" } }, { matchExpressions: [{ key: "tier", operator: "Exists" }] }],
}

const randomSelector = (random: Random, name: string): object | null =>
  chance(random, 0.1) ? { matchLabels: { app: "nobody" } } : pick(random, selectors[name] ?? [])

function randomBudget(random: Random, name: string): Step {
  const policy = pick(random, ["AlwaysAllow", "IfHealthyBudget"])
  return {
    create: {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name },
      spec: {
        selector: randomSelector(random, name),
        ...randomLimits(random),
        ...maybe(random, 0.4, { unhealthyPodEvictionPolicy: policy }),
      },
    },
  }
}
