// How pods of a StatefulSet get another template, and how its history is kept.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { controllerRevisions, pods, statefulSets } from "../../client/resources.ts"
import { eventually, eventTexts, startHarness } from "../testing/harness.ts"
import { image, images, only, podsOf, settled, statefulSet, statusOf } from "../testing/stateful-set.ts"

describe("a StatefulSet", () => {
  test("updates down to its partition, and all pods when it is removed", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(3))
    await settled(harness, 3)
    await harness.change(statefulSets, "default", "db", {
      spec: { updateStrategy: { rollingUpdate: { partition: 2 } }, ...(image("two") as { spec: object }).spec },
    })
    await eventually(async () => {
      await harness.runPods("default")
      expect(images(harness)).toEqual(["one", "one", "two"])
      expect(statusOf(harness)).toMatchObject({ currentReplicas: 2, updatedReplicas: 1, readyReplicas: 3 })
    })
    // A pod below the partition that is deleted is recreated from the old revision.
    await harness.cluster.delete(pods, "default", "db-0")
    await eventually(async () => {
      await harness.runPods("default")
      expect(images(harness)).toEqual(["one", "one", "two"])
    })
    await harness.change(statefulSets, "default", "db", {
      spec: { updateStrategy: { rollingUpdate: { partition: 0 } } },
    })
    await settled(harness, 3)
    expect(images(harness)).toEqual(["two", "two", "two"])
    expect(harness.cluster.all(controllerRevisions)).toHaveLength(2)
  })

  test("with OnDelete updates only pods that are deleted by hand", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(2, { updateStrategy: { type: "OnDelete" } }))
    await eventually(async () => {
      await harness.runPods("default")
      expect(statusOf(harness).readyReplicas).toBe(2)
    })
    await harness.change(statefulSets, "default", "db", image("two"))
    await eventually(() => expect(statusOf(harness).currentRevision).not.toBe(statusOf(harness).updateRevision))
    expect(images(harness)).toEqual(["one", "one"])
    await harness.cluster.delete(pods, "default", "db-1")
    await eventually(() => expect(images(harness)).toEqual(["one", "two"]))
  })

  test("updates further once its updated pods are ready, whatever their phase", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(2, { podManagementPolicy: "Parallel" }))
    await settled(harness, 2)
    await harness.change(statefulSets, "default", "db", image("two"))
    await eventually(() => expect(images(harness)).toEqual(["one", "two"]))
    await harness.setPod(podsOf(harness)[1]!, "Pending", true)
    await eventually(() => expect(images(harness)).toEqual(["two", "two"]))
  })

  test("updates to a newer template while pods of the previous one are broken", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(2, { podManagementPolicy: "Parallel" }))
    await settled(harness, 2)
    await harness.change(statefulSets, "default", "db", image("two"))
    await eventually(() => expect(images(harness)).toEqual(["one", "two"]))
    await harness.change(statefulSets, "default", "db", image("three"))
    await eventually(() => expect(images(harness)).toEqual(["one", "three"]))
    await settled(harness, 2)
    expect(images(harness)).toEqual(["three", "three"])
  })

  test("replaces failing pods without a partition", async () => {
    await using harness = await startHarness({ only })
    const updateStrategy = { type: "RollingUpdate" }
    await harness.create(statefulSets, statefulSet(2, { podManagementPolicy: "Parallel", updateStrategy }))
    await settled(harness, 2)
    await harness.change(statefulSets, "default", "db", image("two"))
    await eventually(() => expect(images(harness)).toEqual(["one", "two"]))
    expect(statusOf(harness).currentReplicas).toBe(1)
    await settled(harness, 2)
    expect(eventTexts(harness).filter((text) => text.startsWith("SuccessfulDelete"))).toHaveLength(2)
  })

  test("adopts the pods and the history of an orphaned set", async () => {
    await using harness = await startHarness({ only })
    await harness.create(statefulSets, statefulSet(1))
    await settled(harness, 1)
    const [before] = harness.cluster.all(controllerRevisions)
    const [pod] = podsOf(harness)
    await harness.cluster.delete(statefulSets, "default", "db", { propagationPolicy: "Orphan" })
    await eventually(() => expect(harness.cluster.find(statefulSets, "default", "db")).toBeUndefined())
    await harness.create(statefulSets, statefulSet(1))
    await settled(harness, 1)
    const revisions = harness.cluster.all(controllerRevisions)
    expect(revisions.map(({ metadata }) => metadata.uid)).toEqual([before!.metadata.uid])
    expect(revisions[0]!.metadata.ownerReferences).toMatchObject([
      { kind: "StatefulSet", name: "db", controller: true },
    ])
    expect(podsOf(harness)[0]!.metadata.uid).toBe(pod!.metadata.uid)
    expect(statusOf(harness).collisionCount).toBe(0)
  })

  test("recognizes its template in an equivalent latest revision", async () => {
    const container = { name: "c", image: "one", terminationMessagePath: "/dev/termination-log" }
    const whole = { $patch: "replace", metadata: { labels: { app: "db" } }, spec: { containers: [container] } }
    for (const template of [whole, { spec: { terminationGracePeriodSeconds: 30 } }]) {
      await using harness = await startHarness({ only })
      await harness.create(controllerRevisions, {
        apiVersion: "apps/v1",
        kind: "ControllerRevision",
        metadata: { name: "found", namespace: "default", labels: { app: "db" } },
        data: { spec: { template } },
        revision: 7,
      } as KubeObject)
      await harness.create(statefulSets, statefulSet(1))
      await settled(harness, 1)
      expect(statusOf(harness).updateRevision).toBe("found")
      expect(harness.cluster.all(controllerRevisions)).toHaveLength(1)
      expect(images(harness)).toEqual(["one"])
    }
  })
})
