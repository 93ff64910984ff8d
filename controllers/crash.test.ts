// The process is killed between arbitrary writes and restarted, repeatedly: the final state is the same as without crashes.

import { describe, expect, test } from "vitest"
import type { Deployment, Job, KubeObject, Pod, ReplicaSet, StatefulSet } from "../apimachinery/object.ts"
import { createRandom, seeds } from "../apimachinery/testing/random.ts"
import { silentLog } from "../client/log.ts"
import { configMaps, deployments, jobs, pods, replicaSets, statefulSets } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { singleCluster } from "../client/single-cluster.ts"
import { startControllers } from "./main.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { liveAndCrash } from "./testing/crashing.ts"
import { eventually } from "./testing/harness.ts"

const only = ["deployment", "replicaset", "statefulset", "job", "garbage-collector"]

const labels = (app: string): Record<string, string> => ({ app })
const template = (app: string, image: string): object => ({
  metadata: { labels: labels(app) },
  spec: { containers: [{ name: "c", image }], restartPolicy: app === "work" ? "Never" : "Always" },
})

function workload(apiVersion: string, kind: string, name: string, spec: object): KubeObject {
  const common = { selector: { matchLabels: labels(name) }, template: template(name, "one") }
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    spec: { ...common, ...spec },
  }
}

/** Pods run, and those of the Job succeed. */
async function playNodes(cluster: FakeCluster): Promise<void> {
  for (const pod of cluster.all<Pod>(pods)) {
    if (pod.status?.phase !== undefined || pod.metadata.deletionTimestamp !== undefined) continue
    const phase = pod.metadata.labels!["app"] === "work" ? "Succeeded" : "Running"
    const conditions = [{ type: "Ready", status: phase === "Running" ? "True" : "False" }]
    await cluster.update(pods, { ...pod, status: { phase, conditions } } as unknown as Pod, { subresource: "status" })
  }
}

/** Everything except times, random names and intermediate states. */
function endState(cluster: FakeCluster): object {
  const statusOf = (object: KubeObject | undefined): object => {
    const {
      conditions = [],
      startTime: _,
      completionTime: __,
      observedGeneration: ___,
      ...status
    } = (object?.["status"] ?? {}) as Record<string, unknown> & {
      conditions?: { type: string; status: string; reason: string }[]
    }
    return {
      ...status,
      conditions: conditions.map(({ type, status: value, reason }) => `${type}=${value} ${reason}`).sort(),
    }
  }
  const imageOf = ({ spec }: ReplicaSet | Pod | { spec?: unknown }): string =>
    JSON.stringify(spec).match(/"image":"(\w+)"/)?.[1] ?? ""
  return {
    deployment: statusOf(cluster.find<Deployment>(deployments, "default", "web")),
    // Whether an old ReplicaSet exists depends on the progress before the change.
    sets: cluster
      .all<ReplicaSet>(replicaSets)
      .filter(({ spec }) => spec?.replicas !== 0)
      .map((set) => [imageOf(set), set.spec?.replicas, statusOf(set)]),
    stateful: statusOf(cluster.find<StatefulSet>(statefulSets, "default", "db")),
    job: statusOf(cluster.find<Job>(jobs, "default", "work")),
    pods: cluster
      .all<Pod>(pods)
      .map(
        (pod) =>
          `${pod.metadata.labels!["app"]} ${imageOf(pod)} ${pod.status?.phase} ${pod.metadata.finalizers?.join() ?? ""}`,
      )
      .sort(),
    rest: cluster.all(configMaps).map(({ metadata }) => metadata.name),
  }
}

async function begin(cluster: FakeCluster): Promise<void> {
  await cluster.create(
    deployments,
    workload("apps/v1", "Deployment", "web", { replicas: 5, progressDeadlineSeconds: 600 }),
  )
  await cluster.create(statefulSets, workload("apps/v1", "StatefulSet", "db", { replicas: 3, serviceName: "db" }))
  await cluster.create(jobs, workload("batch/v1", "Job", "work", { completions: 6, parallelism: 3, backoffLimit: 6 }))
  const owner = await cluster.create<KubeObject>(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "owner", namespace: "default" },
  })
  for (const name of ["a", "b", "c"]) {
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid! }
    const metadata = { name, namespace: "default", ownerReferences: [reference] }
    await cluster.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata })
  }
}

async function change(cluster: FakeCluster): Promise<void> {
  const merge = { type: "merge" } as const
  await cluster.patch(deployments, "default", "web", { spec: { template: template("web", "two") } }, merge)
  await cluster.patch(statefulSets, "default", "db", { spec: { replicas: 2 } }, merge)
  await cluster.delete(configMaps, "default", "owner", { propagationPolicy: "Foreground" })
}

const isDone = (cluster: FakeCluster): void => {
  expect(endState(cluster)).toMatchObject({
    deployment: { replicas: 5, updatedReplicas: 5, availableReplicas: 5 },
    stateful: { replicas: 2, readyReplicas: 2 },
    job: { succeeded: 6, uncountedTerminatedPods: {} },
    rest: [],
  })
  expect(JSON.stringify(endState(cluster))).toContain("Complete=True CompletionsReached")
  expect(JSON.stringify(endState(cluster))).not.toContain("job-tracking")
}

const start = (client: KubeClient): AsyncDisposable =>
  startControllers(singleCluster(client, "tenant-a"), { rootCertificateAuthority: "ca", only, log: silentLog })

async function reach(cluster: FakeCluster): Promise<object> {
  await using _controllers = start(cluster)
  let last = ""
  // The end state is a state that no longer changes, not the first one that looks final.
  await eventually(async () => {
    await playNodes(cluster)
    isDone(cluster)
    const now = JSON.stringify(endState(cluster))
    const before = last
    last = now
    expect(now).toBe(before)
  })
  return endState(cluster)
}

async function withoutCrash(): Promise<object> {
  const cluster = new FakeCluster()
  await begin(cluster)
  await change(cluster)
  return reach(cluster)
}

describe("controllers that crash between any two writes", () => {
  test.each(seeds(4))("reach the same state as without crashes (seed %i)", async (seed) => {
    const cluster = new FakeCluster()
    await begin(cluster)
    await liveAndCrash({ cluster, random: createRandom(seed), start, playNodes, change })
    expect(await reach(cluster)).toEqual(await withoutCrash())
  })
})
