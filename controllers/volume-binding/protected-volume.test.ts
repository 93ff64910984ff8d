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

const only = ["persistentvolume-binder", "persistentvolume-protection"]
const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" }
const claim = (name: string, spec: object): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default" },
    spec: { ...sized, resources: { requests: { storage: "1Gi" } }, ...spec },
  }) as KubeObject
const volume = (name: string, spec: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name },
    spec: { ...sized, capacity: { storage: "1Gi" }, local: { path: "/x" }, ...spec },
  }) as KubeObject

test("a claim of a volume that does not fit is not told that it is being deleted, since it is gone at once", async () => {
  await using harness = await startHarness({ only })
  const find = (name: string): PersistentVolume | undefined =>
    harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, name)
  await harness.create(persistentVolumes, volume("v", { capacity: { storage: "1Mi" } }))
  await harness.create(persistentVolumeClaims, claim("data", { volumeName: "v" }))
  await eventually(() => {
    expect(eventTexts(harness)).toEqual([expect.stringContaining("requested PV is too small")])
    expect(find("v")?.metadata.finalizers).toEqual(["kubernetes.io/pv-protection"])
  })
  await harness.cluster.delete(persistentVolumes, undefined, "v")
  await eventually(() => expect(find("v")).toBeUndefined())
  await harness.create(persistentVolumes, volume("w"))
  await harness.create(persistentVolumeClaims, claim("other", { volumeName: "w" }))
  await eventually(() => expect(find("w")?.status?.phase).toBe("Bound"))
  expect(eventTexts(harness)).toHaveLength(1)
})

test("a volume that is deleted while it is bound, and that nobody can delete, is told so before it goes", async () => {
  await using harness = await startHarness({ only, cluster: new SlowlyAnswering() })
  const find = (): PersistentVolume | undefined =>
    harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, "v")
  await harness.create(persistentVolumes, volume("v", { persistentVolumeReclaimPolicy: "Delete" }))
  await harness.create(persistentVolumeClaims, claim("data", {}))
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
