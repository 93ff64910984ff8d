// PersistentVolumes made by hand and claims for them. NAMESPACE keeps those of one scenario from the others' claims.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"

const volume = (name: string, storage: string, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `NAMESPACE-${name}` },
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "NAMESPACE",
      persistentVolumeReclaimPolicy: "Retain",
      nfs: { server: "10.0.0.1", path: "/x" },
      ...spec,
    },
  },
})
const claim = (name: string, storage: string, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "NAMESPACE",
      resources: { requests: { storage } },
      ...spec,
    },
  },
})
const isIn = (name: string, phase: string): Step => ({
  until: ["persistentvolumes", `NAMESPACE-${name}`],
  has: { status: { phase } },
})
const bound = (name: string): Step => ({ until: ["persistentvolumeclaims", name], has: { status: { phase: "Bound" } } })
const storageClass = (volumeBindingMode: string, provisioner: string): Step => ({
  create: {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "NAMESPACE" },
    provisioner,
    volumeBindingMode,
  },
})
const without = { storageClassName: "" }
const expandable: Step = {
  create: {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "NAMESPACE" },
    provisioner: "kubernetes.io/no-provisioner",
    allowVolumeExpansion: true,
  },
}
const asks = (name: string, storage: string): Step => ({
  patch: ["persistentvolumeclaims", name],
  with: { spec: { resources: { requests: { storage } } } },
})

export const volumeScenarios: readonly Scenario[] = [
  {
    name: "claim gets the smallest volume that fits",
    steps: [
      volume("large", "10Gi"),
      volume("fits", "5Gi"),
      volume("small", "1Gi"),
      volume("many", "2Gi", { accessModes: ["ReadWriteOnce", "ReadOnlyMany"] }),
      volume("block", "2Gi", { volumeMode: "Block" }),
      isIn("large", "Available"),
      isIn("fits", "Available"),
      isIn("small", "Available"),
      isIn("many", "Available"),
      isIn("block", "Available"),
      claim("data", "2Gi"),
      bound("data"),
    ],
  },
  {
    name: "claim and volume reserved for each other",
    steps: [
      volume("reserved", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "data" } }),
      isIn("reserved", "Available"),
      claim("data", "2Gi"),
      bound("data"),
    ],
  },
  {
    name: "claim that names its volume",
    steps: [volume("one", "5Gi"), claim("data", "2Gi", { volumeName: "NAMESPACE-one" }), bound("data")],
  },
  {
    name: "claim that names a volume that is too small",
    steps: [
      volume("one", "1Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeName: "NAMESPACE-one" }),
      settle,
    ],
  },
  {
    name: "claim that names another's volume",
    steps: [
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "other" } }),
      isIn("one", "Available"),
      claim("data", "2Gi", { volumeName: "NAMESPACE-one" }),
      settle,
    ],
  },
  {
    name: "claim without a class or a volume",
    steps: [claim("data", "2Gi", { ...without, selector: { matchLabels: { no: "such" } } }), settle],
  },
  { name: "claim of a class that is not there", steps: [claim("data", "2Gi"), settle] },
  {
    name: "claim of a class of an external provisioner",
    steps: [storageClass("Immediate", "csi.example.com"), claim("data", "2Gi"), settle],
  },
  {
    name: "claim of a class that waits for its consumer",
    steps: [
      storageClass("WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      settle,
    ],
  },
  {
    name: "volume retained after its claim",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Released"),
    ],
  },
  {
    name: "volume that should be deleted with its claim and cannot be",
    steps: [
      volume("one", "5Gi", {
        persistentVolumeReclaimPolicy: "Delete",
        nfs: null,
        iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:storage", lun: 0 },
      }),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Failed"),
    ],
  },
  {
    name: "volume deleted under its claim",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } } },
      { delete: ["persistentvolumes", "NAMESPACE-one"] },
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } }, mayBeGone: true },
      { until: ["persistentvolumeclaims", "data"], has: { status: { phase: "Lost" } } },
    ],
  },
  {
    name: "claim that asks for more than its volume has",
    steps: [expandable, volume("one", "1Gi"), claim("data", "1Gi"), bound("data"), asks("data", "2Gi"), settle],
  },
  {
    name: "claim of a disk that is a driver's by now asks for more",
    steps: [
      expandable,
      volume("one", "1Gi", { nfs: null, gcePersistentDisk: { pdName: "d" } }),
      claim("data", "1Gi"),
      bound("data"),
      asks("data", "2Gi"),
      settle,
    ],
  },
]
