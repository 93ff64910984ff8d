// Rollouts in which users interfere: they change how pods are replaced while it is done, take pods away or hold them, and delete
// what rolls out, alone or with its pods, to make it once more.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { onOwn, ownNode, taint } from "../scenarios/daemon-set-steps.ts"
import { hold } from "../scenarios/deletion-steps.ts"
import { claims } from "../scenarios/stateful-set-steps.ts"
import { container, labels, owner, scale, template, workload } from "../scenarios/steps.ts"
import { type Family, held, maybe, oneByOne, refusable, some } from "./family.ts"

const resources = { Deployment: "deployments", StatefulSet: "statefulsets", DaemonSet: "daemonsets" } as const
type Kind = keyof typeof resources

export const rollouts =
  (kind: Kind): Family =>
  (random) => {
    const make = create(random, kind)
    const begin: Step[] = kind === "DaemonSet" ? [ownNode("a"), ownNode("b"), make] : [make]
    const ready: Step = { pods: "ready" }
    const step = (): Step => pick(random, [...interfering(random, kind, make), ...ofKind[kind](random)])()
    const steps = [...begin, ready, rollOut(random, kind), ...some(random, 3, 6, step)]
    return { nodes: "bound", steps: oneByOne(steps.map(refusable)) }
  }

function create(random: Random, kind: Kind): Step {
  const spec = kind === "DaemonSet" ? onOwn : {}
  const metadata = { labels, ...maybe(random, 0.15, held) }
  return workload(kind, {
    template: { ...template("one", spec), metadata },
    ...(kind === "DaemonSet" ? {} : { replicas: 2 + random(5) }),
    ...(kind === "StatefulSet" ? statefulSpec(random) : {}),
    ...(kind === "Deployment" ? maybe(random, 0.5, { progressDeadlineSeconds: pick(random, deadlines) }) : {}),
    ...pacing(random, kind),
  })
}

/** Of a class of their own, so that they take no volumes of other scenarios. */
const ownClaims = claims.map((claim) => ({ ...claim, spec: { ...claim.spec, storageClassName: "NAMESPACE" } }))

const statefulSpec = (random: Random): object => ({
  serviceName: "web",
  ...maybe(random, 0.6, { podManagementPolicy: "Parallel" }),
  ...maybe(random, 0.3, { ordinals: { start: random(3) } }),
  ...maybe(random, 0.6, { volumeClaimTemplates: ownClaims, ...retention(random) }),
})

const retention = (random: Random): object => {
  const policy = (): string => pick(random, ["Retain", "Delete"])
  return { persistentVolumeClaimRetentionPolicy: { whenScaled: policy(), whenDeleted: policy() } }
}

const parts = [1, 2, "20%", "34%", "75%", "100%"] as const

/** How pods are replaced; a merge patch that takes away what was said before. */
function pacing(random: Random, kind: Kind): object {
  const part = pick(random, parts)
  const surge = chance(random, 0.5) ? { maxSurge: part, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: part }
  const rolling = (rollingUpdate: object): object => ({ type: "RollingUpdate", rollingUpdate })
  if (kind === "Deployment") {
    const both = { maxSurge: part, maxUnavailable: pick(random, parts) }
    return { strategy: pick(random, [rolling(surge), rolling(both), { type: "Recreate", rollingUpdate: null }]) }
  }
  const ofSet = rolling({ partition: random(4), ...maybe(random, 0.5, { maxUnavailable: part }) })
  const ways = [{ type: "OnDelete", rollingUpdate: null }, kind === "DaemonSet" ? rolling(surge) : ofSet]
  return { updateStrategy: pick(random, [...ways, ...ways.slice(1)]) }
}

const spec = (kind: Kind, fields: object): Step => ({ patch: [resources[kind], "web"], with: { spec: fields } })

const rollOut = (random: Random, kind: Kind): Step =>
  spec(kind, { template: { spec: { containers: [container(pick(random, ["one", "two", "three", "four"]))] } } })

function interfering(random: Random, kind: Kind, make: Step): (() => Step)[] {
  const count = 1 + random(3)
  const others = { app: "other" }
  const given = (metadata: object, from = labels): Step => ({ patchPods: from, with: { metadata }, count })
  const resource = resources[kind]
  return [
    () => rollOut(random, kind),
    () => rollOut(random, kind),
    () => ({ pods: "ready", count }),
    () => ({ pods: "ready" }),
    () => ({ pods: "unready", count }),
    () => ({ pods: { exit: 1 }, count: 1 }),
    () => spec(kind, pacing(random, kind)),
    () => spec(kind, pacing(random, kind)),
    // A Deployment's must be shorter than its deadline: beside the shortest one, a second is refused.
    () => spec(kind, { minReadySeconds: pick(random, kind === "Deployment" ? [0, 1] : [0, 1, 2, 3600]) }),
    () => spec(kind, { revisionHistoryLimit: random(3) }),
    () => ({ deletePods: labels, count }),
    () => given({ finalizers: hold.finalizers }),
    () => given({ finalizers: null }),
    () => given({ ownerReferences: pick(random, [null, [owner], [{ ...owner, controller: true }]]) }),
    () => given({ labels: others }),
    () => given({ labels }, others),
    () => ({ delete: [resource, "web"], policy: pick(random, ["Orphan", "Orphan", "Background", "Foreground"]) }),
    () => make,
    () => make,
  ]
}

/** What it was before is taken from it, held or lost. */
function ofHistory(random: Random, all: string): Step {
  const metadata = pick<object>(random, [
    { ownerReferences: null },
    { ownerReferences: [owner] },
    { labels: { app: "other" } },
    { labels },
    { finalizers: hold.finalizers },
    { finalizers: null },
    { annotations: { "deployment.kubernetes.io/revision": null, note: "x" } },
  ])
  return chance(random, 0.25) ? { deleteAll: all } : { patchAll: all, with: { metadata } }
}

/** Within a second, or not while it is played. The last means none. */
const deadlines = [1, 1, 600, 2_147_483_647] as const

const rollBack = (random: Random): Step => ({
  patch: ["deployments", "web"],
  with: { metadata: { annotations: { "deprecated.deployment.rollback.to": String(random(4)) } } },
})

const ofKind: Record<Kind, (random: Random) => (() => Step)[]> = {
  Deployment: (random) => [
    () => ofHistory(random, "replicasets"),
    () => ({ patchAll: "replicasets", with: { metadata: { labels: { "pod-template-hash": "elsewhere" } } } }),
    () => scale(random(8)),
    () => scale(random(8)),
    () => spec("Deployment", { paused: true }),
    () => spec("Deployment", { paused: false }),
    () => spec("Deployment", { progressDeadlineSeconds: pick(random, deadlines) }),
    () => rollBack(random),
    () => rollBack(random),
  ],
  StatefulSet: (random) => [
    () => ofHistory(random, "controllerrevisions"),
    () => scale(random(6), "statefulsets"),
    () => scale(random(6), "statefulsets"),
    () => spec("StatefulSet", { ordinals: pick(random, [null, { start: random(4) }]) }),
    () => spec("StatefulSet", retention(random)),
    () => ({ deleteAll: "persistentvolumeclaims" }),
  ],
  DaemonSet: (random) => {
    const node = `NAMESPACE-${pick(random, ["a", "b"])}`
    const patched = (fields: object): Step => ({ patch: ["nodes", node], with: fields })
    const tainted = (...more: object[]): Step => patched({ spec: { taints: [taint, ...more] } })
    return [
      () => ofHistory(random, "controllerrevisions"),
      () => tainted({ key: "other", effect: pick(random, ["NoSchedule", "NoExecute"]) }),
      () => tainted({ key: "other", effect: "PreferNoSchedule" }),
      () => tainted(),
      () => patched({ spec: { unschedulable: chance(random, 0.5) } }),
      () => patched({ metadata: { labels: { of: pick(random, ["NAMESPACE", "nobody"]) } } }),
    ]
  },
}
