// Jobs: completions, suspension, whose pods are whose.

import type { Scenario, Step } from "../scenario.ts"
import { ended, held, index, indexed, patched } from "./job-steps.ts"
import { container, job, jobHas, owner, settle } from "./steps.ts"

const labelled = job({
  manualSelector: true,
  selector: { matchLabels: { mine: "yes" } },
  template: {
    metadata: { labels: { mine: "yes" } },
    spec: { restartPolicy: "Never", containers: [container("one")] },
  },
})

const podOfItsLabels = (metadata: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "orphan", labels: { mine: "yes" }, ...metadata },
    spec: { restartPolicy: "Never", containers: [container("one")] },
  },
})

export const jobScenarios: readonly Scenario[] = [
  { name: "job completes", steps: [job(), settle, { pods: "succeeded" }, jobHas({ succeeded: 1 })] },
  {
    name: "job of several completions",
    steps: [
      job({ completions: 3, parallelism: 2 }),
      jobHas({ active: 2 }),
      { pods: "succeeded" },
      jobHas({ succeeded: 2, active: 1 }),
      { pods: "succeeded" },
      jobHas({ succeeded: 3 }),
    ],
  },
  {
    name: "job without completions ends with its last pod",
    steps: [
      job({ parallelism: 2 }),
      jobHas({ active: 2 }),
      { pods: "succeeded", count: 1 },
      jobHas({ succeeded: 1 }),
      settle,
      { pods: "succeeded" },
      jobHas({ succeeded: 2 }),
    ],
  },
  {
    name: "job suspended and resumed",
    steps: [
      job({ suspend: true, parallelism: 2, completions: 2 }),
      settle,
      { patch: ["jobs", "work"], with: { spec: { suspend: false } } },
      jobHas({ active: 2 }),
      settle,
      { patch: ["jobs", "work"], with: { spec: { suspend: true } } },
      settle,
    ],
  },
  {
    name: "job deleted with its pods",
    steps: [job(), jobHas({ active: 1 }), { delete: ["jobs", "work"] }, { until: ["jobs", "work"], has: null }],
  },
  {
    name: "job parallelism reduced",
    steps: [
      job({ parallelism: 3, completions: 5 }),
      jobHas({ active: 3 }),
      { patch: ["jobs", "work"], with: { spec: { parallelism: 1 } } },
      jobHas({ active: 1 }),
    ],
  },
  { name: "job of no completions", steps: [job({ completions: 0 }), settle] },
  { name: "job of no parallelism", steps: [job({ parallelism: 0, completions: 2 }), settle] },
  { name: "job without completions or parallelism", steps: [job({ parallelism: 0 }), settle] },
  {
    name: "job goes after its end",
    steps: [
      job({ ttlSecondsAfterFinished: 1 }),
      jobHas({ active: 1 }),
      { pods: "succeeded" },
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job with labels of its own choice",
    steps: [labelled, settle, { pods: "succeeded" }, ended("Complete")],
  },
  {
    name: "job takes a pod of its labels",
    steps: [
      podOfItsLabels(),
      labelled,
      settle,
      // It takes it again.
      { patch: ["pods", "orphan"], with: { metadata: { ownerReferences: null } } },
      settle,
    ],
  },
  {
    name: "job takes a pod of another owner that is held",
    steps: [
      podOfItsLabels({ ownerReferences: [owner], finalizers: ["example.com/hold"] }),
      labelled,
      settle,
      { patch: ["pods", "orphan"], with: { metadata: { ownerReferences: [owner], finalizers: [] } } },
      settle,
    ],
  },
  {
    name: "job takes a pod that comes later, and one that gets its labels",
    steps: [
      labelled,
      settle,
      podOfItsLabels(),
      settle,
      podOfItsLabels({ name: "other", labels: { mine: "no" }, finalizers: ["batch.kubernetes.io/job-tracking"] }),
      settle,
      { patch: ["pods", "other"], with: { metadata: { labels: { mine: "yes" } } } },
      settle,
    ],
  },
  {
    name: "job that has ended takes no pod",
    steps: [
      labelled,
      settle,
      { pods: "succeeded" },
      ended("Complete"),
      podOfItsLabels(),
      podOfItsLabels({ name: "tracked", finalizers: ["batch.kubernetes.io/job-tracking"] }),
      settle,
      { patch: ["jobs", "work"], with: { metadata: { labels: { a: "b" } } } },
      settle,
    ],
  },
  {
    name: "job replaces pods that are being deleted",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 2, ...held }),
      jobHas({ active: 2 }),
      settle,
      { deletePods: {}, count: 1 },
      settle,
    ],
  },
  {
    name: "job completes while pods do not end",
    nodes: "bound",
    steps: [
      indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] }, ...held }),
      settle,
      { pods: "ready" },
      settle,
      { pods: "succeeded", labels: index(2) },
      settle,
    ],
  },
  {
    name: "job suspended while pods run",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 3, activeDeadlineSeconds: 3600 }),
      settle,
      { pods: "ready" },
      settle,
      { pods: "succeeded", count: 1 },
      settle,
      patched({ suspend: true }),
      settle,
      patched({ suspend: false }),
      settle,
    ],
  },
  {
    name: "job suspended from the start takes other labels and nodes",
    steps: [
      job({ suspend: true }),
      settle,
      patched({ template: { metadata: { labels: { extra: "x" } }, spec: { nodeSelector: { a: "b" } } } }),
      patched({ suspend: false }),
      settle,
    ],
  },
  {
    name: "job deleted and its pods kept",
    steps: [
      job({ parallelism: 2, completions: 2 }),
      jobHas({ active: 2 }),
      { delete: ["jobs", "work"], policy: "Orphan" },
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job deleted before its pods",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 2 }),
      settle,
      { delete: ["jobs", "work"], policy: "Foreground" },
      { until: ["jobs", "work"], has: null },
      settle,
    ],
  },
  {
    name: "job that has ended loses its pod",
    steps: [
      job(),
      jobHas({ active: 1 }),
      { pods: "succeeded" },
      ended("Complete"),
      settle,
      { patch: ["jobs", "work"], with: { metadata: { labels: { a: "b" } } } },
      settle,
    ],
  },
  {
    name: "job of more pods at a time than completions",
    steps: [
      job({ completions: 2, parallelism: 5 }),
      jobHas({ active: 2 }),
      settle,
      { pods: "succeeded", count: 1 },
      settle,
    ],
  },
  {
    name: "job that is wanted smaller after it got far",
    steps: [
      job({ parallelism: 3 }),
      jobHas({ active: 3 }),
      { pods: "succeeded", count: 1 },
      settle,
      patched({ parallelism: 1 }),
      settle,
    ],
  },
  { name: "job with ready pods", nodes: "ready", steps: [job({ parallelism: 2, completions: 4 }), settle] },
  {
    name: "job suspended from the start takes other resources, and later another node",
    nodes: "bound",
    steps: [
      job({ suspend: true, parallelism: 2, completions: 2 }),
      settle,
      patched({
        template: { spec: { containers: [{ name: "c", image: "one", resources: { requests: { cpu: "100m" } } }] } },
      }),
      patched({ suspend: false }),
      jobHas({ active: 2 }),
      settle,
      patched({ suspend: true }),
      settle,
      { patch: ["jobs", "work"], with: { spec: { template: { spec: { nodeSelector: { a: "b" } } } } } },
      patched({ suspend: false }),
      settle,
    ],
  },
  {
    name: "job stopped by no parallelism and begun again",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 3 }),
      jobHas({ active: 2 }),
      settle,
      patched({ parallelism: 0 }),
      settle,
      patched({ parallelism: 3 }),
      settle,
      { pods: "succeeded" },
      ended("Complete"),
      settle,
    ],
  },
  {
    name: "job suspended and deleted while pods do not end",
    nodes: "bound",
    steps: [
      job({ parallelism: 2, completions: 2, ...held }),
      jobHas({ active: 2 }),
      settle,
      patched({ suspend: true }),
      settle,
      { delete: ["jobs", "work"], policy: "Background" },
      settle,
    ],
  },
]
