import { describe, expect, test } from "vitest"
import type { KubeObject, PersistentVolumeClaim, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { controllerRevisions, events, persistentVolumeClaims, pods, statefulSets } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const only = ["statefulset", "garbage-collector"]

function statefulSet(replicas: number, spec: object = {}): KubeObject {
  const labels = { app: "db" }
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas,
      serviceName: "db",
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      podManagementPolicy: "OrderedReady",
      ...spec,
    },
  }
}

const image = (name: string): object => ({ spec: { template: { spec: { containers: [{ name: "c", image: name }] } } } })
const podsOf = (harness: Harness): Pod[] => harness.cluster.all<Pod>(pods)
const names = (harness: Harness): string[] => podsOf(harness).map(({ metadata }) => metadata.name!)
const images = (harness: Harness): string[] => podsOf(harness).map(({ spec }) => spec!.containers[0]!.image!)
const statusOf = (harness: Harness): NonNullable<StatefulSet["status"]> =>
  harness.cluster.find<StatefulSet>(statefulSets, "default", "db")!.status!

/** "Reason: message" of all events. */
const eventTexts = (harness: Harness): string[] =>
  harness.cluster
    .all<KubeObject & { reason: string; message: string }>(events)
    .map(({ reason, message }) => `${reason}: ${message}`)

async function settled(harness: Harness, replicas: number): Promise<void> {
  await eventually(async () => {
    await harness.runPods("default")
    expect(statusOf(harness)).toMatchObject({ replicas, readyReplicas: replicas, updatedReplicas: replicas })
    expect(statusOf(harness).currentRevision).toBe(statusOf(harness).updateRevision)
  })
}

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

  test("deletes claims of scaled-down pods by its retention policy", async () => {
    await using harness = await startHarness({ only })
    await harness.create(
      statefulSets,
      statefulSet(2, {
        volumeClaimTemplates: [{ metadata: { name: "data" } }],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Delete" },
      }),
    )
    await settled(harness, 2)
    await harness.change(statefulSets, "default", "db", { spec: { replicas: 1 } })
    await settled(harness, 1)
    await eventually(() => {
      const claims = harness.cluster.all(persistentVolumeClaims).map(({ metadata }) => metadata.name)
      expect(claims).toEqual(["data-db-0"])
    })
  })

  test("uses the claims of the pod's ordinal instead of template volumes of the same name", async () => {
    await using harness = await startHarness({ only })
    const volumes = [
      { name: "data", emptyDir: {} },
      { name: "tmp", emptyDir: {} },
    ]
    const set = statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }] })
    await harness.create(statefulSets, {
      ...set,
      spec: {
        ...(set["spec"] as object),
        template: { metadata: { labels: { app: "db" } }, spec: { containers: [], volumes } },
      },
    } as KubeObject)
    await eventually(() =>
      expect(podsOf(harness)[0]?.spec?.volumes).toEqual([
        { name: "data", persistentVolumeClaim: { claimName: "data-db-0" } },
        { name: "tmp", emptyDir: {} },
      ]),
    )
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

  test("creates a pod only after its terminating claim is gone", async () => {
    await using harness = await startHarness({ only })
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim" }
    const metadata = { name: "data-db-0", namespace: "default", finalizers: ["example.com/hold"] }
    await harness.create(persistentVolumeClaims, { ...claim, metadata })
    await harness.cluster.delete(persistentVolumeClaims, "default", "data-db-0")
    await harness.create(statefulSets, statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }] }))
    const refusal = "FailedCreate: Create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted"
    await eventually(() => expect(eventTexts(harness)).toContain(refusal))
    expect(names(harness)).toEqual([])
    await harness.change(persistentVolumeClaims, "default", "data-db-0", { metadata: { finalizers: null } })
    await settled(harness, 1)
  })

  test("waits for a claim that is deleted with an earlier scaled-down pod", async () => {
    await using harness = await startHarness({ only })
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: "Retain", whenScaled: "Delete" }
    const volumeClaimTemplates = [{ metadata: { name: "data" } }]
    await harness.create(statefulSets, statefulSet(2, { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy }))
    await settled(harness, 2)
    const hold = (finalizers: string[] | null): Promise<KubeObject> =>
      harness.change(persistentVolumeClaims, "default", "data-db-1", { metadata: { finalizers } })
    await hold(["example.com/hold"])
    await harness.change(statefulSets, "default", "db", { spec: { replicas: 1 } })
    await settled(harness, 1)
    await harness.change(statefulSets, "default", "db", { spec: { replicas: 2 } })
    await eventually(() => expect(statusOf(harness).observedGeneration).toBe(3))
    expect(names(harness)).toEqual(["db-0"])
    await hold(null)
    await settled(harness, 2)
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
