// Columns of volumes, claims and their classes. Source: k8s.io/kubernetes/pkg/printers/internalversion.

import { classOf, defaultClassAnnotations, hasMark } from "../../../apimachinery/core/storage-classes.ts"
import type { KubeObject, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../apimachinery/object.ts"
import type { TableColumn } from "./table-column.ts"
import { age, column, integer, name, text, truth, wideText } from "./column.ts"

type CSIDriver = KubeObject & {
  spec?: {
    attachRequired?: boolean
    podInfoOnMount?: boolean
    storageCapacity?: boolean
    tokenRequests?: { audience: string }[]
    requiresRepublish?: boolean
    volumeLifecycleModes?: string[]
  }
}
type CSINode = KubeObject & { spec?: { drivers?: unknown[] } }
type Attachment = KubeObject & {
  spec?: { attacher?: string; nodeName?: string; source?: { persistentVolumeName?: string } }
  status?: { attached?: boolean }
}
type AttributesClass = KubeObject & { driverName?: string }

const shortModes: readonly [string, string][] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]

function printModes(modes: readonly string[] | undefined): string {
  return shortModes
    .filter(([mode]) => modes?.includes(mode) === true)
    .map(([, short]) => short)
    .join(",")
}

function storageOf(amounts: object | undefined): string {
  return (amounts as Record<string, string> | undefined)?.["storage"] ?? "0"
}

export const persistentVolumeColumns: readonly TableColumn[] = [
  name,
  text<PersistentVolume>("Capacity", ({ spec }) => storageOf(spec?.capacity)),
  text<PersistentVolume>("Access Modes", ({ spec }) => printModes(spec?.accessModes)),
  text<PersistentVolume>("Reclaim Policy", ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ""),
  text<PersistentVolume>("Status", ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating",
  ),
  text<PersistentVolume>("Claim", ({ spec }) =>
    spec?.claimRef === undefined ? "" : `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}`,
  ),
  text<PersistentVolume>("StorageClass", classOf),
  text<PersistentVolume>("VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>"),
  text<PersistentVolume>("Reason", ({ status }) => status?.reason ?? ""),
  age,
  wideText<PersistentVolume>("VolumeMode", ({ spec }) => spec?.volumeMode ?? "<unset>"),
]

export const persistentVolumeClaimColumns: readonly TableColumn[] = [
  name,
  text<PersistentVolumeClaim>("Status", ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating",
  ),
  text<PersistentVolumeClaim>("Volume", ({ spec }) => spec?.volumeName ?? ""),
  text<PersistentVolumeClaim>("Capacity", ({ spec, status }) => (spec?.volumeName ? storageOf(status?.capacity) : "")),
  text<PersistentVolumeClaim>("Access Modes", ({ spec, status }) =>
    spec?.volumeName ? printModes(status?.accessModes) : "",
  ),
  text<PersistentVolumeClaim>("StorageClass", classOf),
  text<PersistentVolumeClaim>("VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? "<unset>"),
  age,
  wideText<PersistentVolumeClaim>("VolumeMode", ({ spec }) => spec?.volumeMode ?? "<unset>"),
]

export const storageClassColumns: readonly TableColumn[] = [
  column<StorageClass>(
    "Name",
    "string",
    (each) => `${each.metadata.name ?? ""}${hasMark(each, defaultClassAnnotations) ? " (default)" : ""}`,
    { format: "name" },
  ),
  text<StorageClass>("Provisioner", ({ provisioner }) => provisioner),
  text<StorageClass>("ReclaimPolicy", ({ reclaimPolicy }) => reclaimPolicy ?? "Delete"),
  text<StorageClass>("VolumeBindingMode", ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate"),
  text<StorageClass>("AllowVolumeExpansion", ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
  age,
]

export const csiDriverColumns: readonly TableColumn[] = [
  name,
  truth<CSIDriver>("AttachRequired", ({ spec }) => spec?.attachRequired ?? true),
  truth<CSIDriver>("PodInfoOnMount", ({ spec }) => spec?.podInfoOnMount ?? false),
  truth<CSIDriver>("StorageCapacity", ({ spec }) => spec?.storageCapacity ?? false),
  text<CSIDriver>("TokenRequests", ({ spec }) =>
    spec?.tokenRequests === undefined ? "<unset>" : spec.tokenRequests.map(({ audience }) => audience).join(","),
  ),
  truth<CSIDriver>("RequiresRepublish", ({ spec }) => spec?.requiresRepublish ?? false),
  text<CSIDriver>("Modes", ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(",") || "<none>"),
  age,
]

export const csiNodeColumns: readonly TableColumn[] = [
  name,
  integer<CSINode>("Drivers", ({ spec }) => (spec?.drivers ?? []).length),
  age,
]

export const volumeAttachmentColumns: readonly TableColumn[] = [
  name,
  column<Attachment>("Attacher", "string", ({ spec }) => spec?.attacher ?? "", { format: "name" }),
  text<Attachment>("PV", ({ spec }) => spec?.source?.persistentVolumeName ?? ""),
  text<Attachment>("Node", ({ spec }) => spec?.nodeName ?? ""),
  truth<Attachment>("Attached", ({ status }) => status?.attached ?? false),
  age,
]

export const volumeAttributesClassColumns: readonly TableColumn[] = [
  name,
  text<AttributesClass>("DriverName", ({ driverName }) => driverName ?? ""),
  age,
]
