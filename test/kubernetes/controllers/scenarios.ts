// The scenarios: rollouts, rollbacks, scaling, failures, deletions, quotas.

import type { Scenario, Step } from "./scenario.ts"

const labels = { app: "web" }
const container = (image: string): object => ({ name: "c", image, resources: {} })
const template = (image = "one", more: object = {}): object => ({
  metadata: { labels },
  spec: { containers: [container(image)], ...more },
})
const workload = (kind: string, spec: object, more: object = {}): Step => ({
  create: {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: "web", ...more },
    spec: { selector: { matchLabels: labels }, template: template(), ...spec },
  },
})
const deployment = (spec: object = {}, more: object = {}): Step =>
  workload("Deployment", { replicas: 3, ...spec }, more)
const image = (name: string, resource = "deployments"): Step => ({
  patch: [resource, "web"],
  with: { spec: { template: { spec: { containers: [container(name)] } } } },
})
const scale = (replicas: number, resource = "deployments"): Step => ({
  patch: [resource, "web"],
  with: { spec: { replicas } },
  subresource: "scale",
})
const rolled = (replicas: number): Step => ({
  until: ["deployments", "web"],
  has: { status: { updatedReplicas: replicas, availableReplicas: replicas, replicas } },
})
const job = (spec: object = {}): Step => ({
  create: {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [container("one")] } }, ...spec },
  },
})
const jobHas = (status: object): Step => ({ until: ["jobs", "work"], has: { status } })
const quota = (hard: object): Step => ({
  create: { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "limit" }, spec: { hard } },
})
const settle: Step = { settle: true }

const rollouts: Scenario[] = [
  { name: "deployment becomes available", nodes: "ready", steps: [deployment(), rolled(3)] },
  {
    name: "deployment rolls to a new template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3)],
  },
  {
    name: "deployment rolls back by template",
    nodes: "ready",
    steps: [deployment(), rolled(3), image("two"), rolled(3), settle, image("one"), rolled(3)],
  },
  {
    name: "deployment stuck by unready pods keeps its surge limits",
    steps: [
      deployment({ replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } }),
      settle,
      { pods: "ready" },
      rolled(4),
      image("two"),
      settle,
    ],
  },
  {
    name: "deployment that recreates waits for old pods",
    // When old and new pods are never seen together, it tells of no progress at all.
    ignoreConditions: ["Progressing"],
    nodes: "ready",
    steps: [deployment({ strategy: { type: "Recreate" } }), rolled(3), image("two"), rolled(3)],
  },
  {
    name: "deployment paused takes a size but no template",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { patch: ["deployments", "web"], with: { spec: { paused: true } } },
      image("two"),
      scale(5),
      settle,
    ],
  },
  {
    name: "deployment resumed rolls on",
    nodes: "ready",
    steps: [
      deployment({ paused: true }),
      settle,
      { patch: ["deployments", "web"], with: { spec: { paused: false } } },
      rolled(3),
    ],
  },
  {
    name: "deployment scaled in the middle of a rollout spreads the change",
    steps: [
      deployment({ replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
      settle,
      { pods: "ready" },
      rolled(10),
      image("two"),
      settle,
      scale(15),
      settle,
    ],
  },
  { name: "deployment scaled to nothing", nodes: "ready", steps: [deployment(), rolled(3), scale(0), settle] },
  {
    name: "deployment misses its deadline",
    steps: [
      deployment({ progressDeadlineSeconds: 3 }),
      settle,
      { until: ["deployments", "web"], has: { status: { conditions: [{ reason: "ProgressDeadlineExceeded" }] } } },
    ],
  },
  {
    name: "deployment keeps as much history as it should",
    nodes: "ready",
    steps: [
      deployment({ revisionHistoryLimit: 1 }),
      rolled(3),
      image("two"),
      rolled(3),
      settle,
      image("three"),
      rolled(3),
      settle,
      image("four"),
      rolled(3),
    ],
  },
  {
    name: "deployment that runs into a quota",
    nodes: "ready",
    steps: [
      quota({ pods: "2" }),
      { until: ["resourcequotas", "limit"], has: { status: { hard: { pods: "2" } } } },
      deployment(),
      settle,
    ],
  },
  {
    name: "replica set adopts and lets go of pods",
    nodes: "ready",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "orphan", labels },
          spec: { containers: [container("one")] },
        },
      },
      workload("ReplicaSet", { replicas: 2 }),
      settle,
      { patch: ["pods", "orphan"], with: { metadata: { labels: { app: "other" } } } },
      settle,
    ],
  },
  {
    name: "replica set replaces failed pods",
    steps: [workload("ReplicaSet", { replicas: 2 }), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
  {
    name: "replication controller scales",
    nodes: "ready",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "ReplicationController",
          metadata: { name: "web" },
          spec: { replicas: 2, selector: labels, template: template() },
        },
      },
      settle,
      { patch: ["replicationcontrollers", "web"], with: { spec: { replicas: 1 } }, subresource: "scale" },
      settle,
    ],
  },
]

const stateful = (spec: object = {}): Step => workload("StatefulSet", { serviceName: "web", replicas: 3, ...spec })
const claims = [
  { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
]

const sets: Scenario[] = [
  { name: "stateful set starts one after the other", nodes: "ready", steps: [stateful(), settle] },
  { name: "stateful set waits for the first", steps: [stateful(), settle] },
  { name: "stateful set in parallel", steps: [stateful({ podManagementPolicy: "Parallel" }), settle] },
  {
    name: "stateful set shrinks from the end",
    nodes: "ready",
    steps: [stateful(), settle, scale(1, "statefulsets"), settle],
  },
  {
    name: "stateful set rolls to a new template",
    nodes: "ready",
    steps: [stateful(), settle, image("two", "statefulsets"), settle],
  },
  {
    name: "stateful set rolls only beyond its partition",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } }),
      settle,
      image("two", "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set on delete",
    nodes: "ready",
    steps: [
      stateful({ updateStrategy: { type: "OnDelete" } }),
      settle,
      image("two", "statefulsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "stateful set makes claims",
    nodes: "ready",
    steps: [stateful({ replicas: 2, volumeClaimTemplates: claims }), settle],
  },
  {
    name: "stateful set deletes claims when told",
    nodes: "ready",
    steps: [
      stateful({
        replicas: 2,
        volumeClaimTemplates: claims,
        persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" },
      }),
      settle,
      scale(1, "statefulsets"),
      settle,
    ],
  },
  {
    name: "stateful set replaces a failed pod",
    nodes: "ready",
    steps: [stateful(), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
  {
    name: "stateful set begins elsewhere",
    nodes: "ready",
    steps: [stateful({ replicas: 2, ordinals: { start: 3 } }), settle],
  },
]

const daemon = (spec: object = {}): Step => workload("DaemonSet", spec)

const daemons: Scenario[] = [
  { name: "daemon set runs on each node", nodes: "ready", steps: [daemon(), settle] },
  {
    name: "daemon set on no node",
    steps: [daemon({ template: template("one", { nodeSelector: { a: "b" } }) }), settle],
  },
  {
    name: "daemon set rolls to a new template",
    nodes: "ready",
    steps: [daemon(), settle, image("two", "daemonsets"), settle],
  },
  {
    name: "daemon set rolls with a surge",
    nodes: "ready",
    steps: [
      daemon({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
      settle,
      image("two", "daemonsets"),
      settle,
    ],
  },
  {
    name: "daemon set on delete",
    nodes: "ready",
    steps: [
      daemon({ updateStrategy: { type: "OnDelete" } }),
      settle,
      image("two", "daemonsets"),
      settle,
      { deletePods: labels, count: 1 },
      settle,
    ],
  },
  {
    name: "daemon set stuck in an update",
    nodes: "bound",
    steps: [daemon(), settle, { pods: "ready" }, settle, image("two", "daemonsets"), settle],
  },
  {
    name: "daemon set replaces a failed pod",
    nodes: "ready",
    steps: [daemon(), settle, { pods: { exit: 1 }, count: 1 }, settle],
  },
]

const jobs: Scenario[] = [
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
    name: "job fails at its limit",
    steps: [job({ backoffLimit: 0 }), jobHas({ active: 1 }), { pods: { exit: 1 } }, jobHas({ failed: 1 })],
  },
  {
    name: "job at its deadline",
    steps: [job({ activeDeadlineSeconds: 2 }), jobHas({ conditions: [{ type: "Failed" }] })],
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
    name: "indexed job",
    steps: [
      job({ completionMode: "Indexed", completions: 3, parallelism: 3 }),
      jobHas({ active: 3 }),
      { pods: "succeeded", labels: { "batch.kubernetes.io/job-completion-index": "1" } },
      jobHas({ completedIndexes: "1" }),
      settle,
    ],
  },
  {
    name: "indexed job with a limit per index",
    steps: [
      job({ completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 0 }),
      jobHas({ active: 2 }),
      { pods: { exit: 1 }, labels: { "batch.kubernetes.io/job-completion-index": "0" } },
      jobHas({ failedIndexes: "0" }),
      { pods: "succeeded" },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "indexed job with too many failed indexes",
    steps: [
      job({ completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
      jobHas({ active: 3 }),
      { pods: { exit: 1 }, count: 2 },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "indexed job with a success policy",
    steps: [
      job({
        completionMode: "Indexed",
        completions: 3,
        parallelism: 3,
        successPolicy: { rules: [{ succeededIndexes: "0", succeededCount: 1 }] },
      }),
      jobHas({ active: 3 }),
      { pods: "succeeded", labels: { "batch.kubernetes.io/job-completion-index": "0" } },
      jobHas({ conditions: [{ type: "Complete" }] }),
    ],
  },
  {
    name: "job with a failure policy that fails it",
    steps: [
      job({
        backoffLimit: 6,
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 42 } },
      jobHas({ conditions: [{ type: "Failed" }] }),
    ],
  },
  {
    name: "job with a failure policy that ignores",
    steps: [
      job({
        backoffLimit: 0,
        podFailurePolicy: {
          rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] }],
        },
      }),
      jobHas({ active: 1 }),
      { pods: { exit: 1, condition: "DisruptionTarget" } },
      settle,
      jobHas({ active: 1 }),
    ],
  },
  {
    name: "job whose pod is deleted",
    steps: [job({ backoffLimit: 6 }), jobHas({ active: 1 }), { deletePods: {}, count: 1 }, jobHas({ failed: 1 })],
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
  {
    name: "cron job suspended",
    steps: [
      {
        create: {
          apiVersion: "batch/v1",
          kind: "CronJob",
          metadata: { name: "tick" },
          spec: {
            schedule: "* * * * *",
            suspend: true,
            jobTemplate: { spec: { template: { spec: { restartPolicy: "Never", containers: [container("one")] } } } },
          },
        },
      },
      settle,
    ],
  },
]

const service = (spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", labels: { team: "a" } },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
  },
})
const budget = (spec: object): Step => ({
  create: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { selector: { matchLabels: labels }, ...spec },
  },
})
const config = (name: string, owners: object[] = []): Step => ({
  create: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences: owners } },
})

const others: Scenario[] = [
  {
    name: "service of ready and unready pods",
    nodes: "bound",
    steps: [service(), deployment(), settle, { pods: "ready", count: 2 }, settle],
  },
  { name: "service without pods", steps: [service(), settle] },
  { name: "headless service", nodes: "ready", steps: [service({ clusterIP: "None" }), deployment(), rolled(3)] },
  {
    name: "service that publishes unready pods",
    nodes: "bound",
    steps: [service({ publishNotReadyAddresses: true }), deployment(), settle, { pods: "unready" }, settle],
  },
  {
    name: "endpoints written by hand are mirrored",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "db" },
          spec: { ports: [{ name: "sql", port: 1 }] },
        },
      },
      {
        create: {
          apiVersion: "v1",
          kind: "Endpoints",
          metadata: { name: "db", labels: { team: "a" } },
          subsets: [
            {
              addresses: [{ ip: "192.0.2.1" }],
              notReadyAddresses: [{ ip: "2001:db8::1" }],
              ports: [{ name: "sql", port: 5432 }],
            },
          ],
        },
      },
      settle,
    ],
  },
  {
    name: "disruption budget of a deployment",
    nodes: "ready",
    steps: [deployment(), rolled(3), budget({ maxUnavailable: 1 }), settle],
  },
  {
    name: "disruption budget in percent",
    steps: [deployment(), settle, { pods: "ready", count: 2 }, settle, budget({ minAvailable: "50%" }), settle],
  },
  { name: "disruption budget without pods", steps: [budget({ minAvailable: 1 }), settle] },
  {
    name: "disruption budget of pods nobody controls",
    steps: [
      {
        create: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "alone", labels },
          spec: { containers: [container("one")] },
        },
      },
      budget({ maxUnavailable: 1 }),
      settle,
    ],
  },
  {
    name: "autoscaler without metrics",
    nodes: "ready",
    steps: [
      deployment({ replicas: 2 }),
      rolled(2),
      {
        create: {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 1,
            maxReplicas: 5,
          },
        },
      },
      { until: ["horizontalpodautoscalers", "web"], has: { status: { conditions: [{ type: "ScalingActive" }] } } },
    ],
  },
  {
    name: "autoscaler below its least size",
    nodes: "ready",
    steps: [
      deployment({ replicas: 1 }),
      rolled(1),
      {
        create: {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 2,
            maxReplicas: 5,
          },
        },
      },
      rolled(2),
    ],
  },
  {
    name: "quota counts",
    nodes: "ready",
    steps: [
      quota({ pods: "10", configmaps: "10", "count/deployments.apps": "5" }),
      settle,
      deployment(),
      rolled(3),
      config("a"),
      settle,
    ],
  },
  {
    name: "deletion in the background",
    nodes: "ready",
    steps: [deployment(), rolled(3), { delete: ["deployments", "web"] }, settle],
  },
  {
    name: "deletion in the foreground",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Foreground" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "deletion that leaves orphans",
    nodes: "ready",
    steps: [
      deployment(),
      rolled(3),
      { delete: ["deployments", "web"], policy: "Orphan" },
      { until: ["deployments", "web"], has: null },
    ],
  },
  {
    name: "dependent of an owner that never was",
    steps: [
      config("stays"),
      config("goes", [
        { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "11111111-1111-4111-8111-111111111111" },
      ]),
      settle,
    ],
  },
  {
    name: "stateful set deleted and its pods kept",
    nodes: "ready",
    steps: [stateful({ replicas: 2 }), settle, { delete: ["statefulsets", "web"], policy: "Orphan" }, settle],
  },
]

export const scenarios: readonly Scenario[] = [...rollouts, ...sets, ...daemons, ...jobs, ...others]
