import { describe, expect, test } from "vitest"
import type { Deployment, KubeObject, Pod, ReplicaSet } from "../../apimachinery/object.ts"
import { forbidden } from "../../apimachinery/status.ts"
import { deployments, events, pods, replicaSets } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const only = ["deployment", "replicaset", "garbage-collector"]

function deployment(name: string, replicas: number, spec: object = {}): KubeObject {
  const labels = { app: name }
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default", labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...spec,
    },
  }
}

const image = (name: string): object => ({
  spec: { template: { spec: { containers: [{ name: "c", image: name }] } } },
})

async function settled(harness: Harness, name: string, replicas: number): Promise<Deployment> {
  let latest: Deployment | undefined
  await eventually(async () => {
    await harness.runPods("default")
    latest = harness.cluster.find<Deployment>(deployments, "default", name)
    expect(latest?.status).toMatchObject({
      observedGeneration: latest?.metadata.generation,
      updatedReplicas: replicas,
      replicas,
      availableReplicas: replicas,
    })
  })
  return latest!
}

const setsOf = (harness: Harness): ReplicaSet[] =>
  harness.cluster.all<ReplicaSet>(replicaSets).sort((a, b) => Number(revision(a)) - Number(revision(b)))
const revision = (set: KubeObject): string => set.metadata.annotations?.["deployment.kubernetes.io/revision"] ?? ""

describe("a Deployment", () => {
  test("creates a ReplicaSet and pods, and reports when they are available", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 3))
    const { status, metadata } = await settled(harness, "web", 3)
    const [set] = setsOf(harness)
    const hash = set!.metadata.labels!["pod-template-hash"]!
    expect(set!.metadata.name).toBe(`web-${hash}`)
    expect(set!.spec!.selector.matchLabels).toEqual({ app: "web", "pod-template-hash": hash })
    expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]+$/)
    expect(set!.metadata.annotations).toEqual({
      "deployment.kubernetes.io/revision": "1",
      "deployment.kubernetes.io/desired-replicas": "3",
      "deployment.kubernetes.io/max-replicas": "4",
    })
    expect(metadata.annotations).toMatchObject({ "deployment.kubernetes.io/revision": "1" })
    await eventually(() => {
      const { conditions } = harness.cluster.find<Deployment>(deployments, "default", "web")!.status!
      expect(conditions).toMatchObject([
        { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
        {
          type: "Progressing",
          status: "True",
          reason: "NewReplicaSetAvailable",
          message: `ReplicaSet "web-${hash}" has successfully progressed.`,
        },
      ])
    })
    expect(status!.readyReplicas).toBe(3)
    const [pod] = harness.cluster.all<Pod>(pods)
    expect(pod!.metadata.labels).toEqual({ app: "web", "pod-template-hash": hash })
    expect(pod!.metadata.ownerReferences).toMatchObject([
      { kind: "ReplicaSet", controller: true, blockOwnerDeletion: true },
    ])
    await eventually(() => {
      const messages = harness.cluster.all(events).map((event) => event["message"])
      expect(messages).toContain(`Scaled up replica set web-${hash} from 0 to 3`)
      expect(messages).toContain(`Created pod: ${pod!.metadata.name}`)
    })
  })

  test("rolls out within maxSurge and maxUnavailable, and keeps the old set for rollbacks", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 8))
    await settled(harness, "web", 8)
    let most = 0
    let least = 8
    const stop = watchCounts(harness, (alive, ready) => {
      most = Math.max(most, alive)
      least = Math.min(least, ready)
    })
    await harness.change(deployments, "default", "web", image("two"))
    await settled(harness, "web", 8)
    stop()
    expect(most).toBeLessThanOrEqual(10)
    expect(least).toBeGreaterThanOrEqual(6)
    expect(setsOf(harness).map((set) => [revision(set), set.spec!.replicas])).toEqual([
      ["1", 0],
      ["2", 8],
    ])
    await harness.change(deployments, "default", "web", image("one"))
    await settled(harness, "web", 8)
    expect(setsOf(harness).map((set) => [revision(set), set.spec!.replicas])).toEqual([
      ["2", 0],
      ["3", 8],
    ])
    expect(setsOf(harness)[1]!.metadata.annotations!["deployment.kubernetes.io/revision-history"]).toBe("1")
  })

  test("with Recreate never runs old and new pods together", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 3, { strategy: { type: "Recreate" } }))
    await settled(harness, "web", 3)
    let mixed = false
    const stop = watchCounts(harness, () => {
      const hashes = harness.cluster.all<Pod>(pods).map((pod) => pod.metadata.labels!["pod-template-hash"])
      mixed ||= new Set(hashes).size > 1
    })
    await harness.change(deployments, "default", "web", image("two"))
    await settled(harness, "web", 3)
    stop()
    expect(mixed).toBe(false)
  })

  test("counts revisions beyond the safe integer range", async () => {
    await using harness = await startHarness({ only })
    const labels = { app: "web" }
    const annotations = { "deployment.kubernetes.io/revision": "3546343826724305832" }
    const before = deployment("web", 0, { template: { metadata: { labels }, spec: { containers: [] } } })
    const { selector, template } = (before as Deployment).spec!
    await harness.create(replicaSets, {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "adopted", namespace: "default", labels, annotations },
      spec: { replicas: 0, selector, template },
    } as KubeObject)
    await harness.create(deployments, deployment("web", 1))
    const made = await settled(harness, "web", 1)
    expect(revision(made)).toBe("3546343826724305833")
  })

  test("deletes old sets beyond its history limit", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 1, { revisionHistoryLimit: 1 }))
    for (const name of ["one", "two", "three", "four"]) {
      await harness.change(deployments, "default", "web", image(name))
      await settled(harness, "web", 1)
    }
    await eventually(() => expect(setsOf(harness).map(revision)).toEqual(["3", "4"]))
  })

  test("scales while paused, but does not roll out before it is resumed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 2))
    await settled(harness, "web", 2)
    await harness.change(deployments, "default", "web", { spec: { paused: true } })
    await eventually(() => {
      const { status } = harness.cluster.find<Deployment>(deployments, "default", "web")!
      expect(status!.conditions).toContainEqual(expect.objectContaining({ reason: "DeploymentPaused" }))
    })
    await harness.change(deployments, "default", "web", { spec: { replicas: 4, ...image("two") } })
    await eventually(() => {
      expect(setsOf(harness).map((set) => set.spec!.replicas)).toEqual([4])
    })
    await harness.change(deployments, "default", "web", {
      spec: { paused: false, ...(image("two") as { spec: object }).spec },
    })
    await settled(harness, "web", 4)
    expect(setsOf(harness).map((set) => set.spec!.replicas)).toEqual([0, 4])
  })

  test("reports why pods cannot be created", async () => {
    await using harness = await startHarness({ only })
    harness.cluster.fail = (verb, resource) =>
      verb === "create" && resource === "pods" ? forbidden(pods, "", "exceeded quota") : undefined
    await harness.create(deployments, deployment("web", 3))
    await eventually(() => {
      const { status } = harness.cluster.find<Deployment>(deployments, "default", "web")!
      expect(status!.conditions).toContainEqual(
        expect.objectContaining({
          type: "ReplicaFailure",
          status: "True",
          reason: "FailedCreate",
          message: "pods is forbidden: exceeded quota",
        }),
      )
    })
    harness.cluster.fail = undefined
    await settled(harness, "web", 3)
  })

  test("makes progress when a pod that never was available is replaced", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(deployments, deployment("web", 2))
    const status = (): Deployment["status"] => harness.cluster.find<Deployment>(deployments, "default", "web")?.status
    const progress = (): { reason?: string; lastUpdateTime?: string } | undefined =>
      status()?.conditions?.find(({ type }) => type === "Progressing")
    await eventually(() => {
      clock.advance(50)
      expect(status()?.updatedReplicas).toBe(2)
    })
    const { lastUpdateTime: before } = progress()!
    clock.advance(300_000)
    await harness.cluster.delete(pods, "default", harness.cluster.all(pods)[0]!.metadata.name!)
    await eventually(() => {
      clock.advance(50)
      expect(status()?.updatedReplicas).toBe(2)
      expect(progress()!.reason).toBe("ReplicaSetUpdated")
      expect(progress()!.lastUpdateTime).not.toBe(before)
    })
  })

  test("is deleted together with its ReplicaSets and pods", async () => {
    await using harness = await startHarness({ only })
    await harness.create(deployments, deployment("web", 3))
    await settled(harness, "web", 3)
    await harness.cluster.delete(deployments, "default", "web", { propagationPolicy: "Background" })
    await eventually(() => {
      expect(harness.cluster.all(replicaSets)).toEqual([])
      expect(harness.cluster.all(pods)).toEqual([])
    })
  })
})

/** Calls back at every change of pods with the number of pods that are alive and the number that are ready. */
function watchCounts(harness: Harness, call: (alive: number, ready: number) => void): () => void {
  const controller = new AbortController()
  void (async () => {
    for await (const _ of harness.cluster.watch(pods, { resourceVersion: "0", signal: controller.signal })) {
      const alive = harness.cluster.all<Pod>(pods).filter((pod) => pod.metadata.deletionTimestamp === undefined)
      call(alive.length, alive.filter((pod) => pod.status?.conditions?.[0]?.status === "True").length)
    }
  })()
  return () => controller.abort()
}
