// What was left to do when the controllers ended, and is no object that they reconcile: the controllers that start next do it, in
// whatever order they learn of the objects.

import { expect, test } from "vitest"
import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { endpoints, pods } from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { singleCluster } from "../client/single-cluster.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { trackingFinalizer } from "./job/tracking.ts"
import { startControllers } from "./main.ts"
import { eventually, harnessAuthority } from "./testing/harness.ts"

const pod = (name: string, metadata: object = {}, spec: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", ...metadata },
    spec: { containers: [], ...spec },
  }) as KubeObject

const ofJob = { apiVersion: "batch/v1", kind: "Job", name: "gone", uid: "gone", controller: true }

async function report(cluster: FakeCluster, name: string, status: object): Promise<void> {
  const found = cluster.find<Pod>(pods, "default", name)
  await cluster.update(pods, { ...found, status } as unknown as Pod, { subresource: "status" })
}

interface LeftBehind {
  controller: string
  prepare(cluster: FakeCluster, clock: FakeClock): Promise<void>
  /** What is there, of what was left. */
  left(cluster: FakeCluster): unknown[]
}

const cases: Record<string, LeftBehind> = {
  "a pod that ends and whose Job is gone": {
    controller: "job",
    async prepare(cluster) {
      await cluster.create(pods, pod("lost", { finalizers: [trackingFinalizer], ownerReferences: [ofJob] }))
      await cluster.delete(pods, "default", "lost")
    },
    left: (cluster) => cluster.all(pods),
  },
  "Endpoints whose Service is gone": {
    controller: "endpoints",
    async prepare(cluster) {
      const labels = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" }
      const metadata = { name: "gone", namespace: "default", labels }
      await cluster.create(endpoints, { apiVersion: "v1", kind: "Endpoints", metadata } as KubeObject)
    },
    left: (cluster) => cluster.all(endpoints),
  },
  "a pod that was to be evicted and was not": {
    controller: "disruption",
    async prepare(cluster, clock) {
      await cluster.create(pods, pod("kept"))
      const lastTransitionTime = new Date(clock.now()).toISOString()
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "PreemptionByScheduler",
        lastTransitionTime,
      }
      await report(cluster, "kept", { conditions: [condition] })
      clock.advance(120_000)
    },
    left: (cluster) =>
      cluster
        .all<Pod>(pods)
        .flatMap(({ status }) => status?.conditions?.filter((each) => each.status === "True") ?? []),
  },
  "more finished pods than are kept": {
    controller: "pod-garbage-collector",
    async prepare(cluster) {
      await cluster.create(pods, pod("finished", {}, { nodeName: "n" }))
      await report(cluster, "finished", { phase: "Succeeded" })
    },
    left: (cluster) => cluster.all(pods),
  },
  "a pod that ends and was never bound": {
    controller: "pod-garbage-collector",
    async prepare(cluster) {
      await cluster.create(pods, pod("unbound", { finalizers: ["example.com/held"] }))
      await cluster.delete(pods, "default", "unbound")
    },
    left: (cluster) => cluster.all<Pod>(pods).filter(({ status }) => status?.phase !== "Failed"),
  },
}

/** Lists these resources after all others. */
function listingLast(cluster: FakeCluster, isLast: (resource: Resource) => boolean): KubeClient {
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    discover: () => cluster.discover(),
    unavailable: () => cluster.unavailable(),
    get: (...call) => cluster.get(...call),
    raw: (path) => cluster.raw(path),
    async list(resource, options) {
      if (isLast(resource)) await turns()
      return cluster.list(resource, options)
    },
    watch: (...call) => cluster.watch(...call),
    create: (...call) => cluster.create(...call),
    update: (...call) => cluster.update(...call),
    patch: (...call) => cluster.patch(...call),
    delete: (...call) => cluster.delete(...call),
    deleteCollection: (resource, namespace) => cluster.deleteCollection(resource, namespace),
  }
}

const orders: [string, (resource: Resource) => boolean][] = [
  ["last", ({ resource }) => resource === "pods" || resource === "endpoints"],
  ["first", ({ resource }) => resource !== "pods" && resource !== "endpoints"],
]

test.each(Object.keys(cases).flatMap((what) => orders.map(([when, isLast]) => [what, when, isLast] as const)))(
  "%s is not forgotten if it is listed %s",
  async (what, _when, isLast) => {
    const found = cases[what]!
    const clock = new FakeClock()
    const cluster = new FakeCluster({ clock })
    await found.prepare(cluster, clock)
    expect(found.left(cluster)).toHaveLength(1)
    await using _controllers = startControllers(singleCluster(listingLast(cluster, isLast), "tenant-a"), {
      rootCertificateAuthority: harnessAuthority,
      only: [found.controller],
      limits: { finishedPods: 0 },
      clock,
    })
    await eventually(() => expect(found.left(cluster)).toEqual([]))
  },
)

test("a pod that lives keeps the finalizer of a Job that is not known", async () => {
  const cluster = new FakeCluster()
  const metadata = { finalizers: [trackingFinalizer], ownerReferences: [ofJob] }
  await cluster.create(pods, pod("living", metadata))
  await cluster.create(pods, pod("lost", metadata))
  await cluster.delete(pods, "default", "lost")
  const controllers = startControllers(singleCluster(cluster, "tenant-a"), {
    rootCertificateAuthority: harnessAuthority,
    only: ["job"],
  })
  await eventually(() => expect(cluster.find(pods, "default", "lost")).toBeUndefined())
  await report(cluster, "living", { phase: "Running" })
  await cluster.create(pods, pod("lost", metadata))
  await cluster.delete(pods, "default", "lost")
  await eventually(() => expect(cluster.find(pods, "default", "lost")).toBeUndefined())
  await controllers[Symbol.asyncDispose]()
  expect(cluster.find(pods, "default", "living")?.metadata.finalizers).toEqual([trackingFinalizer])
})
