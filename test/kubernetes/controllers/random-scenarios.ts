// Scenarios by chance: a workload of any settings, and what users and nodes may do to it, one after the other.

import { chance, createRandom, pick, type Random } from "../../../apimachinery/testing/random.ts"
import type { PodReport, Scenario, Step } from "./scenario.ts"
import { container, labels, settle, template, workload } from "./scenarios/steps.ts"

export const randomKinds = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"] as const
export type RandomKind = (typeof randomKinds)[number]

const resources: Record<RandomKind, string> = {
  Deployment: "deployments",
  ReplicaSet: "replicasets",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
  Job: "jobs",
}

export function randomScenario(kind: RandomKind, seed: number): Scenario {
  const random = createRandom(seed)
  const nodes = pick(random, ["bound", "bound", "ready"] as const)
  const [begin, step] = kind === "Job" ? [randomJob, jobStep] : [randomWorkload, workloadStep]
  const steps = [begin(random, kind), settle]
  for (let left = 3 + random(5); left > 0; left--) steps.push(step(random, kind), settle)
  return { name: `${kind} of seed ${seed}`, nodes, steps }
}

const amounts = [0, 1, 2, "10%", "25%", "50%", "100%"] as const
const some = [1, 2, "25%", "50%"] as const
/** Pods that have it stay until the scenario ends. */
const held = { finalizers: ["example.com/hold"] }

const maybe = (random: Random, probability: number, fields: object): object =>
  chance(random, probability) ? fields : {}

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

function updateOf(random: Random, kind: RandomKind): object {
  if (kind === "Deployment") {
    const surging = { maxSurge: pick(random, amounts), maxUnavailable: pick(random, some) }
    const sparing = { maxSurge: pick(random, some), maxUnavailable: pick(random, amounts) }
    const rolling = [surging, sparing].map((rollingUpdate) => ({ rollingUpdate }))
    return { strategy: pick<object>(random, [{ type: "Recreate" }, ...rolling]) }
  }
  const rolling =
    kind === "StatefulSet"
      ? [{ partition: random(4) }, { maxUnavailable: pick(random, some) }]
      : [{ maxSurge: pick(random, [1, "50%", "100%"]), maxUnavailable: 0 }, { maxUnavailable: pick(random, some) }]
  const strategies = rolling.map((rollingUpdate) => ({ type: "RollingUpdate", rollingUpdate }))
  return { updateStrategy: pick<object>(random, [{ type: "OnDelete" }, { type: "RollingUpdate" }, ...strategies]) }
}

function randomWorkload(random: Random, kind: RandomKind): Step {
  return workload(kind, {
    template: randomTemplate(random),
    ...(kind === "DaemonSet" ? {} : { replicas: random(7) }),
    ...(kind === "ReplicaSet" ? {} : updateOf(random, kind)),
    ...(kind === "ReplicaSet" ? {} : maybe(random, 0.3, { revisionHistoryLimit: random(3) })),
    ...(kind === "StatefulSet"
      ? { serviceName: "web", ...maybe(random, 0.5, { podManagementPolicy: "Parallel" }) }
      : {}),
    ...maybe(random, 0.2, { minReadySeconds: 1 }),
  })
}

function workloadStep(random: Random, kind: RandomKind): Step {
  const patched = (fields: object): Step => ({ patch: [resources[kind], "web"], with: fields })
  const annotated = (annotations: object): Step => patched({ metadata: { annotations } })
  const steps: (() => Step)[] = [
    () => reported(random, ["ready", "ready", "ready", "unready", "succeeded", { exit: 1 }]),
    () => reported(random, ["ready"]),
    () => patched({ spec: { template: randomTemplate(random) } }),
    () => patched({ spec: { template: randomTemplate(random) } }),
    () => ({ deletePods: labels, count: 1 + random(2) }),
    () => annotated({ touched: String(random(100)) }),
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

function randomJob(random: Random): Step {
  const completions = 1 + random(5)
  const isIndexed = chance(random, 0.5)
  const indexed = {
    completions,
    completionMode: "Indexed",
    ...maybe(random, 0.4, {
      backoffLimitPerIndex: random(2),
      ...maybe(random, 0.5, { maxFailedIndexes: random(completions) }),
    }),
    ...maybe(random, 0.3, { successPolicy: { rules: [{ succeededCount: 1 + random(completions) }] } }),
  }
  return {
    create: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "web" },
      spec: {
        parallelism: 1 + random(5),
        backoffLimit: pick(random, [0, 1, 2, 6]),
        ...(isIndexed ? indexed : maybe(random, 0.7, { completions })),
        ...maybe(random, 0.2, { suspend: true }),
        ...maybe(random, 0.2, { podReplacementPolicy: pick(random, ["Failed", "TerminatingOrFailed"]) }),
        template: {
          metadata: maybe(random, 0.15, held),
          spec: { restartPolicy: "Never", containers: [container("one")] },
        },
      },
    },
  }
}

function jobStep(random: Random): Step {
  // It may be gone, or not take the change.
  const patched = (fields: object): Step => ({ patch: ["jobs", "web"], with: fields, mayBeGone: true })
  const disrupted = { exit: 1, condition: "DisruptionTarget" }
  return pick<() => Step>(random, [
    () => reported(random, ["ready"]),
    () => reported(random, ["succeeded"]),
    () => reported(random, [{ exit: 1 }, { exit: 42 }, disrupted]),
    () => patched({ spec: { suspend: chance(random, 0.5) } }),
    () => patched({ spec: { parallelism: random(5) } }),
    () => ({ deletePods: {}, count: 1 + random(2) }),
    () => patched({ metadata: { labels: { touched: String(random(100)) } } }),
  ])()
}

const reported = (random: Random, reports: readonly PodReport[]): Step => ({
  pods: pick(random, reports),
  ...maybe(random, 0.6, { count: 1 + random(3) }),
})
