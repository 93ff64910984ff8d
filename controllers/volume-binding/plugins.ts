// The former in-tree storage plugins. Most of them are now implemented by CSI drivers ("migrated"): objects still name the plugin,
// and claims wait for the driver. Pure.
// Source: k8s.io/csi-translation-lib, k8s.io/kubernetes/cmd/kube-controller-manager/app/plugins.go.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { PersistentVolume } from "../../apimachinery/object.ts"

/** Migrated volume types by field of the spec, with the plugin's name and the driver that replaces it. */
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

/** The driver that replaces the plugin; undefined if the plugin is not migrated. */
export const driverOf = (plugin: string): string | undefined => drivers.get(plugin)

/** The only remaining plugin that can provision and delete, meant for tests. */
export const hostPath = "kubernetes.io/host-path"
export const provisionedBy = "pv.kubernetes.io/provisioned-by"
export const migratedTo = "pv.kubernetes.io/migrated-to"

/** Whether the plugin would be part of Kubernetes itself, so that no external provisioner is waited for. */
export const isInTree = (plugin: string): boolean => plugin.startsWith("kubernetes.io/")

/** The error for a plugin without this ability; undefined if it has it. */
export function lacking(plugin: string, ability: "provisionable" | "deletable"): string | undefined {
  if (plugin === hostPath) return undefined
  // NFS can only be recycled.
  if (plugin === "kubernetes.io/nfs") return `no ${ability} volume plugin matched`
  return `no volume plugin matched name: ${plugin}`
}

/** Who deletes the storage of a volume: an external provisioner, an in-tree plugin, or nobody (with the reason). */
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
