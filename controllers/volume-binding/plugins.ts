// What Kubernetes once did for storage by itself. Most of it is a CSI driver's by now ("migrated"): objects still name the old
// plugin, and who waits is told to wait for the driver. Pure.
// Facts: k8s.io/csi-translation-lib, k8s.io/kubernetes/cmd/kube-controller-manager/app/plugins.go.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { PersistentVolume } from "../../apimachinery/object.ts"

/** Migrated kinds of volumes: by the field of the spec, what they were called and who has them. */
export const migrated: Readonly<Record<string, { plugin: string; driver: string }>> = dictionary({
  awsElasticBlockStore: { plugin: "kubernetes.io/aws-ebs", driver: "ebs.csi.aws.com" },
  azureDisk: { plugin: "kubernetes.io/azure-disk", driver: "disk.csi.azure.com" },
  azureFile: { plugin: "kubernetes.io/azure-file", driver: "file.csi.azure.com" },
  cinder: { plugin: "kubernetes.io/cinder", driver: "cinder.csi.openstack.org" },
  gcePersistentDisk: { plugin: "kubernetes.io/gce-pd", driver: "pd.csi.storage.gke.io" },
  portworxVolume: { plugin: "kubernetes.io/portworx-volume", driver: "pxd.portworx.com" },
  vsphereVolume: { plugin: "kubernetes.io/vsphere-volume", driver: "csi.vsphere.vmware.com" },
})

const drivers: ReadonlyMap<string, string> = new Map(
  Object.values(migrated).map(({ plugin, driver }) => [plugin, driver]),
)

/** Who has by now what the plugin did; undefined: it is not migrated. */
export const driverOf = (plugin: string): string | undefined => drivers.get(plugin)

/** The only one left that can provision and delete, if only for tests. */
export const hostPath = "kubernetes.io/host-path"
export const provisionedBy = "pv.kubernetes.io/provisioned-by"
export const migratedTo = "pv.kubernetes.io/migrated-to"

/** Whether Kubernetes itself would have to have it: then nobody outside is waited for. */
export const isInTree = (plugin: string): boolean => plugin.startsWith("kubernetes.io/")

/** Why a plugin of Kubernetes itself does no such thing; undefined: it does. */
export function lacking(plugin: string, ability: "provisionable" | "deletable"): string | undefined {
  if (plugin === hostPath) return undefined
  // It only recycles.
  if (plugin === "kubernetes.io/nfs") return `no ${ability} volume plugin matched`
  return `no volume plugin matched name: ${plugin}`
}

/** Who deletes the storage of a volume: somebody outside, Kubernetes itself, or nobody (why). */
export function deleterOf({ metadata, spec }: PersistentVolume): "outside" | "in-tree" | { fault: string } {
  const { annotations = {}, name = "" } = metadata
  const plugin = annotations[provisionedBy] ?? ""
  if (plugin !== "") {
    if (!isInTree(plugin)) return "outside"
    const fault = lacking(plugin, "deletable")
    return fault === undefined ? "in-tree" : { fault }
  }
  if (annotations[migratedTo] !== undefined || spec?.csi !== undefined) return "outside"
  if (spec?.hostPath !== undefined) return "in-tree"
  const fault = spec?.nfs === undefined ? "no volume plugin matched" : "no deletable volume plugin matched"
  return { fault: `error getting deleter volume plugin for volume "${name}": ${fault}` }
}
