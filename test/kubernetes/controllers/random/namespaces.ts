// Namespaces that end while what is in them is at work: workloads, their pods, Services, claims and what is held.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { begunToEnd, config, pod } from "../scenarios/deletion-steps.ts"
import { service } from "../scenarios/service-steps.ts"
import { job, labels, quota, settle, template, workload } from "../scenarios/steps.ts"
import { claims } from "../scenarios/stateful-set-steps.ts"
import { type Family, held, maybe, oneByOne, reported, some } from "./family.ts"

const kinds = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"] as const

export const inhabited: Family = (random) => {
  const inhabitants = makers.filter(() => chance(random, 0.5)).map((make) => make(random))
  const meanwhile: (() => Step)[] = [
    () => reported(random, ["ready", "succeeded", { exit: 1 }]),
    () => ({ deletePods: {}, count: 1 }),
    () => ({ patch: ["deployments", "web"], with: { spec: { replicas: random(4) } } }),
    () => ({ patch: ["persistentvolumeclaims", "data"], with: { metadata: { finalizers: null } } }),
    () => config("late"),
    () => service(),
    () => ({ delete: ["namespaces", "NAMESPACE"] }),
  ]
  const steps: Step[] = [
    ...inhabitants,
    { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "keeps", ...held } } },
    settle,
    { pods: "ready" },
    settle,
    { delete: ["namespaces", "NAMESPACE"] },
    begunToEnd,
    settle,
    ...oneByOne(some(random, 1, 4, () => pick(random, meanwhile)())),
  ]
  return {
    // Upstream looks at what is held every eight seconds.
    ignoreConditions: ["NamespaceContentRemaining", "NamespaceFinalizersRemaining"],
    nodes: pick(random, ["bound", "ready"] as const),
    steps: steps.map((step): Step => ("settle" in step ? step : { ...step, mayBeRefused: true })),
  }
}

/** What is left of a namespace, and what its conditions say of it. */
export const heldNamespaces: Family = (random) => {
  const own = ["orphan", "foregroundDeletion"] as const
  const objects = some(random, 1, 8, () => pick(random, heldKinds)).map(([apiVersion, kind, more], index) => {
    const others = ["example.com/a", "example.com/b"].filter(() => chance(random, 0.35))
    const finalizers = chance(random, 0.3) ? [...others, pick(random, own)] : others
    return { create: { apiVersion, kind, metadata: { name: `o${index}`, finalizers }, ...more } }
  })
  const keeps: Step = { create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "keeps", ...held } } }
  const labelled: Step = {
    patch: ["namespaces", "NAMESPACE"],
    with: { metadata: { ...maybe(random, 0.3, { finalizers: ["example.com/namespace"] }), labels: { a: "b" } } },
  }
  const first: Step[] = chance(random, 0.3) ? [{ delete: ["configmaps", "keeps"] }] : []
  return {
    steps: [
      ...objects,
      keeps,
      labelled,
      settle,
      ...first,
      { delete: ["namespaces", "NAMESPACE"] },
      begunToEnd,
      // Upstream looks again after eight seconds.
      ...Array.from({ length: 5 }, () => settle),
    ],
  }
}

const heldKinds: readonly (readonly [apiVersion: string, kind: string, more: object])[] = [
  ["v1", "ConfigMap", {}],
  ["v1", "Secret", {}],
  ["v1", "ServiceAccount", {}],
  ["v1", "Pod", { spec: { containers: [{ name: "c", image: "one" }] } }],
  ["v1", "Service", { spec: { ports: [{ port: 80 }] } }],
  ["v1", "ResourceQuota", { spec: { hard: { pods: "10" } } }],
  ["coordination.k8s.io/v1", "Lease", { spec: {} }],
  ["scenarios.example.com/v1", "Thing", {}],
  ["apps/v1", "ControllerRevision", { revision: 1, data: {} }],
]

const makers: readonly ((random: Random) => Step)[] = [
  ...kinds.map((kind) => (random: Random) => {
    // Not held: how often upstream deletes again what stays, and counts a generation of it, is a matter of moments.
    const metadata = { labels: { ...labels, of: kind } }
    const spec = { selector: { matchLabels: { ...labels, of: kind } }, template: { ...template(), metadata } }
    const replicas = kind === "DaemonSet" ? {} : { replicas: 1 + random(2) }
    const stateful = { serviceName: "web", ...maybe(random, 0.5, { volumeClaimTemplates: claims }) }
    return workload(kind, { ...spec, ...replicas, ...(kind === "StatefulSet" ? stateful : {}) })
  }),
  () => service(),
  () => job(),
  () => quota({ pods: "20" }),
  (random) => pod("alone", maybe(random, 0.5, { nodeName: "n1" })),
  () => ({
    create: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data", ...held },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "NAMESPACE",
        resources: { requests: { storage: "1Gi" } },
      },
    },
  }),
]
