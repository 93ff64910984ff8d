// The claims of a StatefulSet's pods.

import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, pods, statefulSets } from "../../client/resources.ts"
import { eventually, eventTexts, startHarness } from "../testing/harness.ts"
import { LateCluster } from "../testing/late-cluster.ts"
import { names, only, podsOf, settled, statefulSet, statusOf } from "../testing/stateful-set.ts"

describe("a StatefulSet", () => {
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

  test("takes back the claim of a pod that stays, when it sees that the claim would be deleted with it", async () => {
    await using harness = await startHarness({ only: ["statefulset"] })
    const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Delete" } }
    await harness.create(
      statefulSets,
      statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }], ...retention }),
    )
    await settled(harness, 1)
    const { uid } = podsOf(harness)[0]!.metadata
    const owner = { apiVersion: "v1", kind: "Pod", name: "db-0", uid, controller: true, blockOwnerDeletion: true }
    await harness.change(persistentVolumeClaims, "default", "data-db-0", { metadata: { ownerReferences: [owner] } })
    await eventually(() => {
      const [claim] = harness.cluster.all(persistentVolumeClaims)
      expect(claim?.metadata.ownerReferences ?? []).toEqual([])
    })
  })

  test("owns claims that are seen only after their pod is ready", async () => {
    const cluster = new LateCluster(persistentVolumeClaims)
    cluster.hold()
    await using harness = await startHarness({ only: ["statefulset"], cluster })
    const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" } }
    await harness.create(
      statefulSets,
      statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }], ...retention }),
    )
    await settled(harness, 1)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    cluster.release()
    await eventually(() => {
      const [claim] = harness.cluster.all(persistentVolumeClaims)
      expect(claim?.metadata.ownerReferences).toMatchObject([{ kind: "StatefulSet", name: "db" }])
    })
  })

  test("that retains its claims does not look at one that appears for a pod", async () => {
    await using harness = await startHarness({ only: ["statefulset"] })
    await harness.create(statefulSets, statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }] }))
    await settled(harness, 1)
    const { apiVersion, kind, metadata } = harness.cluster.find(statefulSets, "default", "db")!
    await harness.cluster.delete(persistentVolumeClaims, "default", "data-db-0")
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    const written = harness.cluster.writes.length
    const ownerReferences = [{ apiVersion, kind, name: "db", uid: metadata.uid }]
    await harness.create(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data-db-0", namespace: "default", ownerReferences },
    } as KubeObject)
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    // A round would take the reference away.
    expect(harness.cluster.writes.slice(written)).toEqual(["create persistentvolumeclaims default/data-db-0"])
  })

  test("leaves a reference to itself that somebody adds to a claim, until something else happens", async () => {
    await using harness = await startHarness({ only: ["statefulset"] })
    await harness.create(statefulSets, statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }] }))
    await settled(harness, 1)
    const { uid } = harness.cluster.find(statefulSets, "default", "db")!.metadata
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid }]
    const written = harness.cluster.writes.length
    await harness.change(persistentVolumeClaims, "default", "data-db-0", { metadata: { ownerReferences } })
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(harness.cluster.writes.slice(written)).toEqual(["patch persistentvolumeclaims default/data-db-0"])
    await harness.change(pods, "default", "db-0", { metadata: { labels: { changed: "" } } })
    await eventually(() => {
      const [claim] = harness.cluster.all(persistentVolumeClaims)
      expect(claim?.metadata.ownerReferences ?? []).toEqual([])
    })
  })

  test("waits for a claim of a former pod only as long as it is that one's", async () => {
    await using harness = await startHarness({ only: ["statefulset"] })
    const former = { apiVersion: "v1", kind: "Pod", name: "db-0", uid: "former", controller: true }
    await harness.create(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data-db-0", namespace: "default", ownerReferences: [former] },
    })
    const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Delete" } }
    await harness.create(
      statefulSets,
      statefulSet(1, { volumeClaimTemplates: [{ metadata: { name: "data" } }], ...retention }),
    )
    await eventually(() => expect(statusOf(harness)).toMatchObject({ replicas: 0 }))
    await harness.change(persistentVolumeClaims, "default", "data-db-0", { metadata: { ownerReferences: null } })
    await eventually(() => expect(names(harness)).toEqual(["db-0"]))
  })
})
