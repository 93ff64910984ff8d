import { describe, expect, test } from "vitest"
import type { PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, pods, statefulSets } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, eventTexts, startHarness } from "../testing/harness.ts"
import { names, only, podsOf, settled, statefulSet, statusOf } from "../testing/stateful-set.ts"

describe("a StatefulSet", () => {
  test("creates its pods in order, each with its identity and claim", async () => {
    await using harness = await startHarness({ only })
    await harness.create(
      statefulSets,
      statefulSet(3, {
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      }),
    )
    await eventually(() => expect(names(harness)).toEqual(["db-0"]))
    await harness.runPods("default")
    await eventually(() => expect(names(harness)).toEqual(["db-0", "db-1"]))
    await settled(harness, 3)
    const [, second] = podsOf(harness)
    expect(second!.metadata.labels).toMatchObject({
      app: "db",
      "statefulset.kubernetes.io/pod-name": "db-1",
      "apps.kubernetes.io/pod-index": "1",
      "controller-revision-hash": statusOf(harness).currentRevision,
    })
    expect(second!.spec).toMatchObject({
      hostname: "db-1",
      subdomain: "db",
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-db-1" } }],
    })
    const claims = harness.cluster.all<PersistentVolumeClaim>(persistentVolumeClaims)
    expect(claims.map(({ metadata }) => [metadata.name, metadata.labels])).toEqual(
      ["data-db-0", "data-db-1", "data-db-2"].map((name) => [name, { app: "db" }]),
    )
  })

  test("creates all pods concurrently with Parallel", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(4, { podManagementPolicy: "Parallel" }))
    await eventually(() => expect(names(harness)).toEqual(["db-0", "db-1", "db-2", "db-3"]))
  })

  test("of many counts pods together that become ready together", async () => {
    const clock = new FakeClock()
    await using harness = await startHarness({ only, clock })
    await harness.create(statefulSets, statefulSet(200, { podManagementPolicy: "Parallel" }))
    await eventually(() => {
      clock.advance(10)
      expect(statusOf(harness)).toMatchObject({ replicas: 200 })
    })
    const writes = (): number => harness.cluster.calls.get("update status of statefulsets") ?? 0
    const before = writes()
    for (const pod of podsOf(harness)) await harness.setPod(pod, "Running", true)
    expect(writes()).toBe(before)
    await eventually(() => {
      clock.advance(10)
      expect(statusOf(harness)).toMatchObject({ readyReplicas: 200 })
    })
    expect(writes()).toBe(before + 1)
  })

  test.each(["Parallel", "OrderedReady"])(
    "with the maximum replicas and %s creates pods in batches",
    async (podManagementPolicy) => {
      await using harness = await startHarness({ only })
      const [ordinals, room] = [{ start: 7 }, 600]
      harness.cluster.fail = (verb, resource) =>
        verb === "create" && resource === "pods" && podsOf(harness).length >= room
          ? new Error("exceeded quota")
          : undefined
      await harness.create(statefulSets, statefulSet(2 ** 31 - 1 - ordinals.start, { podManagementPolicy, ordinals }))
      const some = podManagementPolicy === "Parallel" ? room : 2
      await eventually(async () => {
        await harness.runPods("default")
        expect(podsOf(harness).length).toBeGreaterThanOrEqual(some)
      })
      await harness.change(statefulSets, "default", "db", { spec: { replicas: 1 } })
      await settled(harness, 1)
      expect(names(harness)).toEqual(["db-7"])
    },
  )

  test("scales down from the highest ordinal and keeps the claims", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(3))
    await settled(harness, 3)
    await harness.change(statefulSets, "default", "db", { spec: { replicas: 1 } })
    await settled(harness, 1)
    expect(names(harness)).toEqual(["db-0"])
  })

  test("replaces a pod that has failed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(1))
    await settled(harness, 1)
    const [pod] = podsOf(harness)
    await harness.setPod(pod!, "Failed", false)
    await eventually(() => {
      expect(names(harness)).toEqual(["db-0"])
      expect(podsOf(harness)[0]!.metadata.uid).not.toBe(pod!.metadata.uid)
    })
  })

  test("restores a pod's ordinal labels and records an event", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(1))
    await settled(harness, 1)
    const [{ metadata }] = podsOf(harness) as [Pod]
    await harness.change(pods, "default", "db-0", {
      metadata: { labels: { "statefulset.kubernetes.io/pod-name": "x", "apps.kubernetes.io/pod-index": "7" } },
    })
    await eventually(() => expect(podsOf(harness)[0]!.metadata.labels).toEqual(metadata.labels))
    await eventually(() =>
      expect(eventTexts(harness)).toContain("SuccessfulUpdate: Update Pod db-0 in StatefulSet db successful"),
    )
  })

  test("creates its pod when another pod of that name is deleted", async () => {
    await using harness = await startHarness({ only })
    const otherPod = { apiVersion: "v1", kind: "Pod", metadata: { name: "db-0", namespace: "default" } }
    await harness.create(pods, otherPod)
    await harness.create(statefulSets, statefulSet(1))
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 0 }))
    await harness.cluster.delete(pods, "default", "db-0")
    await settled(harness, 1)
  })

  test("replaces what others wrote into its status when it makes a pod again", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(2, { podManagementPolicy: "Parallel" }))
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 2, observedGeneration: 1 }))
    const set = harness.cluster.find<StatefulSet>(statefulSets, "default", "db")!
    const status = { ...set.status!, observedGeneration: 9 }
    await harness.cluster.update(statefulSets, { ...set, status }, { subresource: "status" })
    await harness.cluster.delete(pods, "default", "db-1")
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 2, observedGeneration: 1 }))
    expect(names(harness)).toEqual(["db-0", "db-1"])
  })
})
