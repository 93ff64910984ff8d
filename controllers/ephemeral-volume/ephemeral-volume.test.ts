import { describe, expect, test } from "vitest"
import type { KubeObject, PersistentVolumeClaim } from "../../apimachinery/object.ts"
import { alreadyExists } from "../../apimachinery/status.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import type { Resource } from "../../client/rest.ts"
import { events, persistentVolumeClaims, pods } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"

const only = ["ephemeral-volume", "garbage-collector"]
const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default" },
  spec: {
    volumes: [
      { name: "scratch", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec } } },
      { name: "other", emptyDir: {} },
    ],
  },
} as unknown as KubeObject

describe("a generic ephemeral volume", () => {
  test("has a claim that is deleted with its pod and recreated while the pod exists", async () => {
    await using harness = await startHarness({ only })
    const created = await harness.create(pods, pod)
    const find = () => harness.cluster.find<PersistentVolumeClaim>(persistentVolumeClaims, "default", "web-scratch")
    await eventually(() => expect(find()).toMatchObject({ metadata: { labels: { a: "b" } }, spec }))
    expect(find()!.metadata.ownerReferences).toEqual([
      {
        apiVersion: "v1",
        kind: "Pod",
        name: "web",
        uid: created.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect(harness.cluster.all(persistentVolumeClaims)).toHaveLength(1)
    const { uid } = find()!.metadata
    await harness.cluster.delete(persistentVolumeClaims, "default", "web-scratch")
    await eventually(() => expect([undefined, uid]).not.toContain(find()?.metadata.uid))
    await harness.cluster.delete(pods, "default", "web")
    await eventually(() => expect(harness.cluster.all(persistentVolumeClaims)).toEqual([]))
  })

  test("does not use a claim of another owner", async () => {
    await using harness = await startHarness({ only })
    await harness.create(persistentVolumeClaims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "web-scratch", namespace: "default" },
    })
    await harness.create(pods, pod)
    await eventually(() => {
      expect(harness.cluster.all(events)).toMatchObject([
        {
          reason: "FailedBinding",
          message:
            "ephemeral volume scratch: PVC default/web-scratch was not created for pod default/web (pod is not owner)",
        },
      ])
    })
  })

  test("reports a claim that was created just before", async () => {
    const cluster = new TakenCluster()
    await using harness = await startHarness({ only: ["ephemeral-volume"], cluster })
    await harness.create(pods, pod)
    await eventually(() => {
      expect(cluster.all(events)).toMatchObject([
        {
          reason: "FailedBinding",
          message:
            'ephemeral volume scratch: create PVC web-scratch: persistentvolumeclaims "web-scratch" already exists',
        },
      ])
    })
  })
})

/** Another owner's claim exists that the cache does not contain yet. */
class TakenCluster extends FakeCluster {
  override create<T extends KubeObject>(resource: Resource, object: T): Promise<T> {
    if (resource.resource !== "persistentvolumeclaims") return super.create<T>(resource, object)
    return Promise.reject(alreadyExists(resource, object.metadata.name ?? ""))
  }
}
