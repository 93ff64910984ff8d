// Users who meddle with what controllers write: status, owners, labels and histories of workloads, which are also deleted and made again with
// the same name, or changed while they go.

import { pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { labels, owner, settle, template, workload } from "../scenarios/steps.ts"
import { type Family, held, maybe, refusable, reported, some } from "./family.ts"

const resources = {
  Deployment: "deployments",
  ReplicaSet: "replicasets",
  ReplicationController: "replicationcontrollers",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
  Job: "jobs",
} as const
type Kind = keyof typeof resources

export const meddling =
  (kind: Kind): Family =>
  (random) => {
    const resource = resources[kind]
    const web: [string, string] = [resource, "web"]
    const patched = (fields: object): Step => ({ patch: web, with: fields })
    const turns: (() => Step[])[] = [
      () => [status(random, kind)],
      () => [status(random, kind)],
      () => [status(random, kind)],
      () => [deleted(random, web, atOnce), ...(histories[kind].length > 0 ? [settle] : []), create(random, kind)],
      () => [deleted(random, web), settle, create(random, kind)],
      () => [patched({ metadata: { finalizers: pick(random, [null, held.finalizers]) } })],
      () => [
        patched({ metadata: { ownerReferences: pick(random, [null, [owner], [{ ...owner, controller: true }]]) } }),
      ],
      () => [patched({ metadata: { labels: { a: "b" } } })],
      () => [patched({ spec: kind === "DaemonSet" ? {} : sized(random, kind) })],
      () => [{ patchPods: labels, with: { metadata: pick<object>(random, ofPods) }, count: 1 + random(2) }],
      () => [{ patchPods: { app: "other" }, with: { metadata: { labels } } }],
      () => [reported(random, ["ready", "ready", "unready", "succeeded", { exit: 1 }])],
      () => [{ deletePods: labels, count: 1 + random(2) }],
      ...(kind === "Job" ? [] : [() => [patched({ spec: { template: randomTemplate(random) } })]]),
      ...histories[kind].flatMap((history) => [
        (): Step[] => [{ patchAll: history, with: pick(random, ofHistory) }],
        (): Step[] => [{ deleteAll: history }],
      ]),
    ]
    const all = [[create(random, kind)], ...some(random, 4, 8, () => pick(random, turns)())]
    return {
      nodes: pick(random, ["bound", "bound", "ready"] as const),
      steps: all.flatMap((turn) => [...turn.map(refusable), settle]),
    }
  }

const histories: Readonly<Record<Kind, readonly string[]>> = {
  Deployment: ["replicasets"],
  ReplicaSet: [],
  ReplicationController: [],
  StatefulSet: ["controllerrevisions"],
  DaemonSet: ["controllerrevisions"],
  Job: [],
}

const ofHistory = [
  { metadata: { ownerReferences: null } },
  { metadata: { ownerReferences: [owner] } },
  { metadata: { annotations: { note: "x" } } },
  { metadata: { labels: { note: "x" } } },
]

const ofPods = [
  { ownerReferences: null },
  { ownerReferences: [owner] },
  { ownerReferences: [{ ...owner, controller: true }] },
  { labels: { app: "other" } },
  { annotations: { note: "x" } },
]

/**
 * Whether the garbage collector is through with others when they are made again would be a matter of moments; and so it is with a history,
 * whose names are those of its templates.
 */
const atOnce = ["Background"] as const
const policies = ["Background", "Background", "Foreground", "Orphan"] as const

const deleted = (random: Random, web: [string, string], of: readonly (typeof policies)[number][] = policies): Step => ({
  delete: web,
  policy: pick(random, of),
})

const sized = (random: Random, kind: Kind): object =>
  kind === "Job" ? { parallelism: random(4) } : { replicas: random(5) }

const randomTemplate = (random: Random): object => template(pick(random, ["one", "two"]))

function create(random: Random, kind: Kind): Step {
  const more = maybe(random, 0.15, held)
  const metadata = { name: "web", ...more }
  if (kind === "Job") {
    const of = {
      parallelism: 1 + random(3),
      completions: 1 + random(3),
      backoffLimit: 20,
      template: template("one", { restartPolicy: "Never" }),
    }
    return { create: { apiVersion: "batch/v1", kind, metadata, spec: of } }
  }
  const spec = {
    template: randomTemplate(random),
    ...(kind === "DaemonSet" ? {} : { replicas: random(5) }),
    ...(kind === "StatefulSet" ? { serviceName: "web", podManagementPolicy: "Parallel" } : {}),
  }
  if (kind !== "ReplicationController") return workload(kind, spec, more)
  return { create: { apiVersion: "v1", kind, metadata, spec: { selector: labels, ...spec } } }
}

const at = "2026-01-01T00:00:00Z"
const condition = (type: string, value: string): object => ({
  type,
  status: value,
  reason: "Mine",
  message: "so",
  lastTransitionTime: at,
})

/** Counts that are not so, conditions of others, or nothing. */
function status(random: Random, kind: Kind): Step {
  const count = (): number => random(6)
  const counts =
    kind === "Job"
      ? { active: count(), ready: count(), succeeded: count(), failed: count(), terminating: count() }
      : kind === "DaemonSet"
        ? {
            currentNumberScheduled: count(),
            desiredNumberScheduled: count(),
            numberReady: count(),
            numberMisscheduled: count(),
          }
        : { replicas: 5, readyReplicas: count(), availableReplicas: count(), updatedReplicas: count() }
  const fields = pick<object>(random, [
    counts,
    counts,
    { observedGeneration: random(9) },
    { conditions: null },
    { conditions: [condition("Mine", "True")] },
    {
      conditions: [condition("Available", "False"), condition("Progressing", "False"), condition("Complete", "False")],
    },
    ...(kind === "Deployment" ? [{ collisionCount: random(3) }] : []),
    ...(kind === "StatefulSet"
      ? [{ currentRevision: "web-other" }, { updateRevision: "web-other" }, { collisionCount: 1 }]
      : []),
    ...(kind === "Job" ? [{ startTime: null }, { startTime: at }, { uncountedTerminatedPods: null }] : []),
  ])
  return { patch: [resources[kind], "web"], with: { status: fields }, subresource: "status" }
}
