import { describe, expect, test } from "vitest"
import type { Pod, Secret } from "../apimachinery/object.ts"
import { events, nodes, pods, secrets } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { object, podOf, startHarness } from "./testing/harness.ts"

const named = (name: string) => ({ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] })

test("runs a pod: copies it, binds it and copies its status back", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(pods, podOf("web"))
  const superPod = await harness.inSuper<Pod>(pods, "web")
  expect(superPod.metadata.annotations).toMatchObject({
    "tenancy.x-k8s.io/cluster": harness.tenant.clusterKey,
    "tenancy.x-k8s.io/namespace": "default",
    "tenancy.x-k8s.io/uid": harness.cluster.find(pods, "default", "web")?.metadata.uid,
  })
  harness.superCluster.edit(pods, harness.home, "web", {
    spec: { nodeName: "node-1" },
    status: { phase: "Running", podIP: "10.1.0.1", newField: true },
  })
  const running = await eventually(
    () => {
      const pod = harness.cluster.find<Pod>(pods, "default", "web")
      return pod?.status?.phase === "Running" ? pod : undefined
    },
    { what: "running" },
  )
  expect(running.spec?.nodeName).toBe("node-1")
  expect(running.status).toMatchObject({ podIP: "10.1.0.1", newField: true })
})

test("reports to the tenant why a pod is not scheduled", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(pods, podOf("big"))
  await harness.inSuper(pods, "big")
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }
  harness.superCluster.edit(pods, harness.home, "big", { status: { phase: "Pending", conditions: [condition] } })
  await eventually(() => harness.cluster.find<Pod>(pods, "default", "big")?.status?.conditions?.[0], {
    what: "the condition",
  })
  expect(harness.cluster.find<Pod>(pods, "default", "big")?.status?.conditions).toEqual([condition])
})

test("deletes a running pod in super first, with the same grace period, then in the tenant", async () => {
  await using harness = await startHarness()
  await harness.running("web")
  await harness.cluster.delete(pods, "default", "web", { gracePeriodSeconds: 7 })
  const leaving = await eventually(
    () => {
      const pod = harness.superCluster.find(pods, harness.home, "web")
      return pod?.metadata.deletionTimestamp === undefined ? undefined : pod
    },
    { what: "deleting in super" },
  )
  expect(leaving.metadata.deletionGracePeriodSeconds).toBe(7)
  await harness.settled()
  expect(harness.cluster.find(pods, "default", "web")).toBeDefined()
  harness.superCluster.remove(pods, harness.home, "web")
  await eventually(() => harness.cluster.find(pods, "default", "web") === undefined, { what: "gone in the tenant" })
})

test("removes a deleted pod whose copy was lost unnoticed", async () => {
  await using harness = await startHarness()
  await harness.running("web")
  await harness.syncer[Symbol.asyncDispose]()
  await harness.cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
  harness.superCluster.remove(pods, harness.home, "web")
  await harness.start()
  await eventually(() => harness.cluster.find(pods, "default", "web") === undefined, { what: "gone in the tenant" })
})

test("finishes a deleted pod only once while finalizers still hold it", async () => {
  await using harness = await startHarness()
  const { metadata } = await harness.running("web")
  harness.cluster.edit(pods, "default", "web", { metadata: { ...metadata, finalizers: ["example.com/hold"] } })
  await harness.cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
  harness.superCluster.remove(pods, harness.home, "web")
  const held = () => harness.cluster.find(pods, "default", "web")?.metadata.deletionGracePeriodSeconds
  await eventually(() => held() === 0, { what: "finished" })
  await eventually(() => harness.syncer.pending === 0, { what: "the queue is empty" })
  expect((await harness.syncer.patrol()).enqueued.get("pods")).toBeUndefined()
})

test("recreates a running pod's copy on its node when it is deleted by hand", async () => {
  await using harness = await startHarness()
  const before = await harness.running("web")
  harness.superCluster.remove(pods, harness.home, "web")
  const again = await harness.inSuper<Pod>(pods, "web")
  expect(again.spec?.nodeName).toBe("node-1")
  expect(harness.cluster.find(pods, "default", "web")?.metadata.uid).toBe(before.metadata.uid)
})

test.each(["runs", "has a node, but has not begun"])(
  "fails an evicted pod that %s instead of deleting it",
  async (how) => {
    await using harness = await startHarness()
    if (how === "runs") await harness.running("web")
    else await harness.cluster.create(pods, podOf("web", { nodeName: "node-1" }))
    await harness.inSuper(pods, "web")
    const evicted = { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "drained" }
    harness.superCluster.edit(pods, harness.home, "web", { status: { conditions: [evicted] } })
    await eventually(() => harness.cluster.find<Pod>(pods, "default", "web")?.status?.conditions?.length, {
      what: "condition",
    })
    harness.superCluster.remove(pods, harness.home, "web")
    const failed = await eventually(
      () => {
        const pod = harness.cluster.find<Pod>(pods, "default", "web")
        return pod?.status?.phase === "Failed" ? pod : undefined
      },
      { what: "failed" },
    )
    expect(failed.status?.reason).toBe("EvictionByEvictionAPI")
    await harness.settled()
    expect(harness.superCluster.find(pods, harness.home, "web")).toBeUndefined()
  },
)

test("gives a pod short-lived tokens and removes them with the pod", async () => {
  await using harness = await startHarness()
  const volume = {
    name: "kube-api-access-x",
    projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: 3607 } }] },
  }
  const pod = await harness.cluster.create(pods, podOf("web", { volumes: [volume] }))
  const superPod = await harness.inSuper<Pod>(pods, "web")
  const source = superPod.spec?.volumes?.[0]?.projected?.sources?.[0]?.secret
  const secret = harness.superCluster.find<Secret>(secrets, harness.home, source?.name ?? "")
  expect(source?.items).toEqual([{ key: "token-0-0", path: "token" }])
  expect(Buffer.from(secret?.data?.["token-0-0"] ?? "", "base64").toString()).toMatch(/^token-/)
  expect(secret?.metadata.annotations?.["tenancy.x-k8s.io/token.pod-uid"]).toBe(pod.metadata.uid)
  await harness.settled()
  expect(harness.superCluster.find(secrets, harness.home, source?.name ?? "")).toBeDefined()
  await harness.cluster.delete(pods, "default", "web")
  await eventually(() => harness.superCluster.find(secrets, harness.home, source?.name ?? "") === undefined, {
    what: "tokens gone",
  })
})

test("keeps a webhook's sidecar and copies a new image", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(pods, podOf("web"))
  const superPod = await harness.inSuper<Pod>(pods, "web")
  const containers = [...(superPod.spec?.containers ?? []), { name: "sidecar", image: "mesh:1" }]
  harness.superCluster.edit(pods, harness.home, "web", { spec: { containers } })
  await harness.settled()
  harness.cluster.edit(pods, "default", "web", { spec: { containers: [{ name: "main", image: "nginx:2" }] } })
  const images = (): string[] =>
    harness.superCluster.find<Pod>(pods, harness.home, "web")?.spec?.containers.map(({ image }) => image ?? "") ?? []
  await eventually(() => images().includes("nginx:2"), { what: "the new image" })
  expect(images()).toEqual(["nginx:2", "mesh:1"])
})

test("does not copy an unsupported pod and reports why; the pod can be deleted", async () => {
  await using harness = await startHarness()
  await harness.cluster.create(pods, podOf("gpu", { resourceClaims: [{ name: "gpu", resourceClaimName: "mine" }] }))
  const event = await eventually(() => harness.cluster.all(events).find(({ reason }) => reason === "FailedSync"), {
    what: "an event",
  })
  expect(event).toMatchObject({ involvedObject: { kind: "Pod", name: "gpu" } })
  expect(event["message"]).toMatch(/^spec\.resourceClaims: /)
  expect(harness.superCluster.find(pods, harness.home, "gpu")).toBeUndefined()
  const uid = harness.cluster.find(pods, "default", "gpu")?.metadata.uid ?? ""
  await harness.cluster.delete(pods, "default", "gpu", { uid, gracePeriodSeconds: 30 })
  await eventually(() => harness.cluster.find(pods, "default", "gpu") === undefined, { what: "it is gone" })
})

test("reschedules a pending pod when the tenant labels a node", async () => {
  await using harness = await startHarness()
  await eventually(() => harness.cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
  await harness.cluster.create(pods, podOf("web", { nodeSelector: { color: "blue" } }))
  const before = await harness.inSuper<Pod>(pods, "web")
  expect(before.spec?.nodeSelector).toEqual({ color: "blue" })
  harness.cluster.edit(nodes, undefined, "node-1", { metadata: { labels: { color: "blue" } } })
  const after = await eventually(
    () => {
      const found = harness.superCluster.find<Pod>(pods, harness.home, "web")
      return found?.metadata.uid === before.metadata.uid ? undefined : found
    },
    { what: "another copy" },
  )
  expect(after.spec).toMatchObject({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [named("node-1")],
        },
      },
    },
  })
  await harness.settled()
  expect(harness.cluster.find(nodes, undefined, "node-1")?.metadata.labels).toMatchObject({ color: "blue", zone: "a" })
})

describe("a node that the tenant brought itself", () => {
  const onOwn = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [named("own-1")] } }

  test("runs its pods alone: no copies, its statuses stay, and its kubelet ends them", async () => {
    await using harness = await startHarness()
    await harness.cluster.create(nodes, object("Node", undefined, "own-1"))
    await harness.cluster.create(pods, podOf("web", { nodeName: "own-1" }))
    const status = { phase: "Running", startTime: "2026-01-01T00:00:00Z", containerStatuses: [{ name: "main" }] }
    harness.cluster.edit(pods, "default", "web", { status })
    await harness.settled()
    expect(harness.cluster.find<Pod>(pods, "default", "web")?.status).toEqual(status)
    expect(harness.superCluster.find(pods, harness.home, "web")).toBeUndefined()
    await harness.cluster.delete(pods, "default", "web", { gracePeriodSeconds: 30 })
    await harness.settled()
    expect(harness.cluster.find(pods, "default", "web")?.metadata.deletionTimestamp).toBeDefined()
  })

  test("gets the pods that are made for it, also if they were copied before it came", async () => {
    await using harness = await startHarness()
    await harness.cluster.create(pods, podOf("early", { affinity: { nodeAffinity: onOwn } }))
    await harness.inSuper(pods, "early")
    await harness.cluster.create(nodes, object("Node", undefined, "own-1"))
    await harness.cluster.create(pods, podOf("late", { affinity: { nodeAffinity: onOwn } }))
    await harness.settled()
    for (const name of ["early", "late"]) {
      await eventually(() => harness.cluster.find<Pod>(pods, "default", name)?.spec?.nodeName === "own-1", {
        what: name,
      })
    }
    await eventually(() => harness.superCluster.find(pods, harness.home, "early") === undefined, { what: "no copy" })
    expect(harness.superCluster.find(pods, harness.home, "late")).toBeUndefined()
  })
})

test("moves a pending pod to the node that the tenant's scheduler has bound it to", async () => {
  await using harness = await startHarness()
  await eventually(() => harness.cluster.find(nodes, undefined, "node-1"), { what: "node-1" })
  await harness.cluster.create(pods, podOf("web"))
  expect((await harness.inSuper<Pod>(pods, "web")).spec?.nodeName).toBeUndefined()
  const target = { apiVersion: "v1", kind: "Node", name: "node-1" }
  await harness.cluster.create(pods, object("Binding", "default", "web", { target }), { subresource: "binding" })
  await eventually(() => harness.superCluster.find<Pod>(pods, harness.home, "web")?.spec?.nodeName === "node-1", {
    what: "the copy on its node",
  })
})

test("ignores pods that opt out", async () => {
  await using harness = await startHarness()
  const pod = podOf("mine")
  pod.metadata.labels = { "tenancy.x-k8s.io/ignore-sync": "true" }
  await harness.cluster.create(pods, pod)
  await harness.settled()
  expect(harness.superCluster.find(pods, harness.home, "mine")).toBeUndefined()
})

// Otherwise a tenant could say that a pod has ended, for its quota, while its copy runs.
test("a pod that runs cannot opt out", async () => {
  await using harness = await startHarness()
  await harness.running("web")
  harness.cluster.edit(pods, "default", "web", { metadata: { labels: { "tenancy.x-k8s.io/ignore-sync": "true" } } })
  harness.cluster.edit(pods, "default", "web", { status: { phase: "Succeeded" } })
  await harness.settled()
  expect(harness.cluster.find<Pod>(pods, "default", "web")?.status?.phase).toBe("Running")
})
