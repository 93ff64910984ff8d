import { expect, test } from "vitest"
import type { KubeObject, PersistentVolume } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import type { Resource, WriteOptions } from "../../client/rest.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventTexts, eventually, startHarness } from "../testing/harness.ts"

/** Others see a write before the writer has its answer. */
class SlowlyAnswering extends FakeCluster {
  override async update<T extends KubeObject>(resource: Resource, object: T, options?: WriteOptions): Promise<T> {
    const written = await super.update(resource, object, options)
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    return written
  }
}

test("a volume that is deleted while it is bound, and that nobody can delete, is told so before it goes", async () => {
  const only = ["persistentvolume-binder", "persistentvolume-protection"]
  await using harness = await startHarness({ only, cluster: new SlowlyAnswering() })
  const find = (): PersistentVolume | undefined =>
    harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, "v")
  const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" }
  await harness.create(persistentVolumes, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "v" },
    spec: { ...sized, capacity: { storage: "1Gi" }, persistentVolumeReclaimPolicy: "Delete", local: { path: "/x" } },
  } as KubeObject)
  await harness.create(persistentVolumeClaims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", namespace: "default" },
    spec: { ...sized, resources: { requests: { storage: "1Gi" } } },
  } as KubeObject)
  await eventually(() => {
    expect(find()?.status?.phase).toBe("Bound")
    expect(find()?.metadata.finalizers).toEqual(["kubernetes.io/pv-protection"])
  })
  await harness.cluster.delete(persistentVolumes, undefined, "v")
  await harness.cluster.delete(persistentVolumeClaims, "default", "data")
  await eventually(() => expect(find()).toBeUndefined())
  const text = 'VolumeFailedDelete: error getting deleter volume plugin for volume "v": no volume plugin matched'
  await eventually(() => expect(eventTexts(harness)).toContain(text))
})
