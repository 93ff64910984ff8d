// Deployments, ReplicaSets, ReplicationControllers, StatefulSets and DaemonSets: templates that change, pods that come up, fail and are deleted.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { labels, template, workload } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, reported, some } from "./family.ts"

const resources = {
  Deployment: "deployments",
  ReplicaSet: "replicasets",
  ReplicationController: "replicationcontrollers",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
} as const
type Kind = keyof typeof resources

export const workloads =
  (kind: Kind): Family =>
  (random) => ({
    nodes: pick(random, ["bound", "bound", "ready"] as const),
    steps: oneByOne([randomWorkload(random, kind), ...some(random, 3, 7, () => workloadStep(random, kind))]),
  })

const amounts = [0, 1, 2, "10%", "25%", "50%", "100%"] as const
const few = [1, 2, "25%", "50%"] as const
function randomTemplate(random: Random): object {
  const spec = {
    ...maybe(random, 0.2, { terminationGracePeriodSeconds: pick(random, [0, 5, 60]) }),
    ...maybe(random, 0.1, { nodeSelector: { a: "b" } }),
  }
  const metadata = {
    labels,
    ...maybe(random, 0.15, { annotations: { note: pick(random, ["x", "y"]) } }),
    ...maybe(random, 0.12, held),
  }
  return { ...template(pick(random, ["one", "two", "three"]), spec), metadata }
}

function updateOf(random: Random, kind: Kind): object {
  if (kind === "Deployment") {
    const surging = { maxSurge: pick(random, amounts), maxUnavailable: pick(random, few) }
    const sparing = { maxSurge: pick(random, few), maxUnavailable: pick(random, amounts) }
    const rolling = [surging, sparing].map((rollingUpdate) => ({ rollingUpdate }))
    return { strategy: pick<object>(random, [{ type: "Recreate" }, ...rolling]) }
  }
  const rolling =
    kind === "StatefulSet"
      ? [{ partition: random(4) }, { maxUnavailable: pick(random, few) }]
      : [{ maxSurge: pick(random, [1, "50%", "100%"]), maxUnavailable: 0 }, { maxUnavailable: pick(random, few) }]
  const strategies = rolling.map((rollingUpdate) => ({ type: "RollingUpdate", rollingUpdate }))
  return { updateStrategy: pick<object>(random, [{ type: "OnDelete" }, { type: "RollingUpdate" }, ...strategies]) }
}

/** They only keep a number of pods. */
const plain: ReadonlySet<Kind> = new Set(["ReplicaSet", "ReplicationController"])

function randomWorkload(random: Random, kind: Kind): Step {
  const spec = {
    template: randomTemplate(random),
    ...(kind === "DaemonSet" ? {} : { replicas: random(7) }),
    ...(plain.has(kind) ? {} : updateOf(random, kind)),
    ...(plain.has(kind) ? {} : maybe(random, 0.3, { revisionHistoryLimit: random(3) })),
    ...(kind === "StatefulSet"
      ? { serviceName: "web", ...maybe(random, 0.5, { podManagementPolicy: "Parallel" }) }
      : {}),
    ...maybe(random, 0.2, { minReadySeconds: 1 }),
  }
  if (kind !== "ReplicationController") return workload(kind, spec)
  return { create: { apiVersion: "v1", kind, metadata: { name: "web" }, spec: { selector: labels, ...spec } } }
}

/** They are taken from their owner, in one way or another, or given back. */
function podsPatched(random: Random): Step {
  const count = 1 + random(2)
  const others = { app: "other" }
  return pick<Step>(random, [
    { patchPods: labels, with: { metadata: { ownerReferences: null } }, count },
    { patchPods: labels, with: { metadata: { labels: others } }, count },
    { patchPods: others, with: { metadata: { labels } }, count },
  ])
}

function workloadStep(random: Random, kind: Kind): Step {
  const patched = (fields: object): Step => ({ patch: [resources[kind], "web"], with: fields })
  const annotated = (annotations: object): Step => patched({ metadata: { annotations } })
  const steps: (() => Step)[] = [
    () => reported(random, ["ready", "ready", "ready", "unready", "succeeded", { exit: 1 }]),
    () => reported(random, ["ready"]),
    () => patched({ spec: { template: randomTemplate(random) } }),
    () => patched({ spec: { template: randomTemplate(random) } }),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => annotated({ touched: String(random(100)) }),
    () => podsPatched(random),
  ]
  if (kind !== "DaemonSet") steps.push(() => patched({ spec: { replicas: random(9) } }))
  if (kind === "Deployment") {
    steps.push(
      () => patched({ spec: { paused: chance(random, 0.5) } }),
      () => annotated({ "deprecated.deployment.rollback.to": String(random(3)) }),
    )
  }
  return pick(random, steps)()
}
