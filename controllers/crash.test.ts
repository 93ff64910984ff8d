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
import { eventually } from "./testing/harness.ts"

const only = ["deployment", "replicaset", "statefulset", "job", "garbage-collector"]
/** Maximum number of writes of a process before it is killed, and the number of such processes; the last one runs to the end. */
const mostWrites = 12
const lives = 25

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

/** A client whose process dies after a number of writes; later writes fail. */
class CrashingClient {
  readonly client: KubeClient
  #left: number
  #died: () => void = () => undefined
  readonly death: Promise<void>

  constructor(cluster: FakeCluster, writes: number) {
    this.#left = writes
    this.death = new Promise((resolve) => (this.#died = resolve))
    const write = <T>(call: () => Promise<T>): Promise<T> => {
      if (this.#left <= 0) return Promise.reject(new Error("the process is dead"))
      if (--this.#left === 0) this.#died()
      return call()
    }
    this.client = {
      discover: () => cluster.discover(),
      unavailable: () => cluster.unavailable(),
      get: (...call) => cluster.get(...call),
      raw: (path) => cluster.raw(path),
      list: (...call) => cluster.list(...call),
      watch: (...call) => cluster.watch(...call),
      create: (...call) => write(() => cluster.create(...call)),
      update: (...call) => write(() => cluster.update(...call)),
      patch: (...call) => write(() => cluster.patch(...call)),
      delete: (...call) => write(() => cluster.delete(...call)),
      deleteCollection: (resource, namespace) => write(() => cluster.deleteCollection(resource, namespace)),
    }
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
    const random = createRandom(seed)
    const cluster = new FakeCluster()
    await begin(cluster)
    for (let life = 0; life < lives; life++) {
      if (life === Math.floor(lives / 3)) await change(cluster)
      const crashing = new CrashingClient(cluster, 1 + random(mostWrites))
      await using _controllers = start(crashing.client)
      let isDead = false
      void crashing.death.then(() => (isDead = true))
      // It may have nothing to do until the nodes change something.
      for (let turn = 0; turn < 40 && !isDead; turn++) {
        await playNodes(cluster)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    expect(await reach(cluster)).toEqual(await withoutCrash())
  })
})
