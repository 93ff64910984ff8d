// What becomes of volumes whose claims are deleted.

import { describe, expect, test } from "vitest"
import type { PersistentVolume } from "../../apimachinery/object.ts"
import { persistentVolumeClaims, persistentVolumes } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { claim, findVolume, only, phase, volume } from "../testing/volumes.ts"

describe("a volume whose claim is deleted", () => {
  const nfs = { nfs: { server: "10.0.0.1", path: "/x" } }
  const none = "no volume plugin matched"
  const getting = 'error getting deleter volume plugin for volume "v":'

  test.each([
    [{ csi: { driver: "d", volumeHandle: "h" } }, {}, "Released", undefined],
    [{}, { "pv.kubernetes.io/provisioned-by": "csi.example.com" }, "Released", undefined],
    [{}, { "pv.kubernetes.io/provisioned-by": "kubernetes.io/gce-pd" }, "Released", undefined],
    [{}, { "pv.kubernetes.io/provisioned-by": "kubernetes.io/x" }, "Failed", `${none} name: kubernetes.io/x`],
    [nfs, {}, "Failed", `${getting} no deletable volume plugin matched`],
    [{ gcePersistentDisk: { pdName: "d" } }, {}, "Failed", `${getting} ${none}`],
    [
      { hostPath: { path: "/var/x" } },
      {},
      "Failed",
      "host_path deleter only supports /tmp/.+ but received provided /var/x",
    ],
    [
      nfs,
      { "pv.kubernetes.io/provisioned-by": "kubernetes.io/host-path" },
      "Failed",
      'failed to create deleter for volume "v": spec.PersistentVolumeSource.HostPath is nil',
    ],
    [{ hostPath: { path: "/tmp/x" } }, {}, undefined, undefined],
  ])("of %j %j that is terminating becomes %s", async (source, annotations, wanted, message) => {
    await using harness = await startHarness({ only })
    const policy = { persistentVolumeReclaimPolicy: "Delete" }
    await harness.create(persistentVolumes, volume("v", "1Gi", { ...policy, ...source }, { annotations }))
    await harness.create(persistentVolumeClaims, claim("data", "1Gi"))
    await eventually(() => expect(phase(harness, "v")).toBe("Bound"))
    await harness.cluster.delete(persistentVolumeClaims, "default", "data")
    const status = (): PersistentVolume["status"] =>
      harness.cluster.find<PersistentVolume>(persistentVolumes, undefined, "v")?.status
    await eventually(() => expect(status()?.phase).toBe(wanted))
    expect(status()?.message).toBe(message)
  })

  test("records the migrated driver and the finalizer that holds it", async () => {
    await using harness = await startHarness({ only })
    const external = "external-provisioner.volume.kubernetes.io/finalizer"
    const policy = { persistentVolumeReclaimPolicy: "Delete" }
    const by = (plugin: string): object => ({ "pv.kubernetes.io/provisioned-by": plugin })
    const finalizers = [external]
    await harness.create(
      persistentVolumes,
      volume("migrated", "1Gi", policy, { annotations: by("kubernetes.io/gce-pd"), finalizers }),
    )
    await harness.create(
      persistentVolumes,
      volume("in-tree", "1Gi", policy, { annotations: by("kubernetes.io/host-path"), finalizers }),
    )
    await eventually(() => {
      expect(findVolume(harness, "migrated").metadata).toMatchObject({
        annotations: { "pv.kubernetes.io/migrated-to": "pd.csi.storage.gke.io" },
        finalizers: [external],
      })
      expect(findVolume(harness, "in-tree").metadata.finalizers).toEqual(["kubernetes.io/pv-controller"])
    })
  })
})
