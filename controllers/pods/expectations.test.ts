// What is expected of pods of which nobody tells.

import { expect, test } from "vitest"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { expired } from "../../apimachinery/status.ts"
import { daemonSets, jobs, nodes, pods, replicaSets } from "../../client/resources.ts"
import type { Resource, WatchEvent, WatchOptions } from "../../client/rest.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness } from "../testing/harness.ts"

/** The watch of pods shows nothing until it has expired. */
class InterruptedCluster extends FakeCluster {
  readonly interrupted = Promise.withResolvers<void>()
  #isInterrupted = false
  /** The informer has the list that follows. */
  isResumed = false

  override async *watch<T extends KubeObject>(
    resource: Resource,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void> {
    if (resource.resource === "pods" && !this.#isInterrupted) {
      await this.interrupted.promise
      this.#isInterrupted = true
      throw expired("too old resource version")
    }
    this.isResumed ||= resource.resource === "pods"
    yield* super.watch<T>(resource, options)
  }
}

const labels = { app: "web" }
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }], restartPolicy: "Never" } }
const of = { selector: { matchLabels: labels }, template }

test.each<[controller: string, Resource, apiVersion: string, kind: string, spec: object]>([
  ["replicaset", replicaSets, "apps/v1", "ReplicaSet", { ...of, replicas: 1 }],
  ["daemonset", daemonSets, "apps/v1", "DaemonSet", { ...of, updateStrategy: { type: "OnDelete" } }],
  ["job", jobs, "batch/v1", "Job", { ...of, parallelism: 1, completions: 1, backoffLimit: 6 }],
])("%s: a pod that came and went while the watch was interrupted is replaced", async (name, resource, ...rest) => {
  const [apiVersion, kind, spec] = rest
  const clock = new FakeClock()
  const cluster = new InterruptedCluster({ clock })
  await using harness = await startHarness({ only: [name], clock, cluster })
  await harness.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "n" } })
  const metadata = { name: "web", namespace: "default", uid: "web" }
  await harness.create(resource, { apiVersion, kind, metadata, spec } as KubeObject)
  await eventually(() => expect(cluster.all<Pod>(pods)).toHaveLength(1))
  cluster.remove(pods, "default", cluster.all<Pod>(pods)[0]?.metadata.name ?? "")
  cluster.interrupted.resolve()
  await eventually(() => expect(cluster.isResumed).toBe(true))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(cluster.all<Pod>(pods)).toHaveLength(0)
  await eventually(() => {
    clock.advance(10_000)
    expect(cluster.all<Pod>(pods)).toHaveLength(1)
  })
})
