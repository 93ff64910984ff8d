// Steps that scenarios of volumes and claims have in common. NAMESPACE keeps those of one scenario from the others' claims.

import type { Step } from "../scenario.ts"
import { container } from "./steps.ts"

export const volume = (name: string, storage: string, spec: object = {}): Step => ({
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
export const claim = (name: string, storage: string, spec: object = {}): Step => ({
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
export const isIn = (name: string, phase: string): Step => ({
  until: ["persistentvolumes", `NAMESPACE-${name}`],
  has: { status: { phase } },
})
export const bound = (name: string): Step => ({
  until: ["persistentvolumeclaims", name],
  has: { status: { phase: "Bound" } },
})
export const storageClass = (volumeBindingMode: string, provisioner: string): Step => ({
  create: {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "NAMESPACE" },
    provisioner,
    volumeBindingMode,
  },
})
export const without = { storageClassName: "" }
export const expandable: Step = {
  create: {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "NAMESPACE" },
    provisioner: "kubernetes.io/no-provisioner",
    allowVolumeExpansion: true,
  },
}
export const asks = (name: string, storage: string): Step => ({
  patch: ["persistentvolumeclaims", name],
  with: { spec: { resources: { requests: { storage } } } },
})

export const labelled = (name: string, labels: object): Step => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `NAMESPACE-${name}`, labels },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "NAMESPACE",
      nfs: { server: "10.0.0.1", path: "/x" },
    },
  },
})
export const user = (name: string, volumes: object[], spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { a: "b" } },
    spec: { containers: [container("one")], volumes, ...spec },
  },
})
/** A volume as long as its pod. */
export const scratch = {
  name: "scratch",
  ephemeral: {
    volumeClaimTemplate: {
      metadata: { labels: { c: "d" }, annotations: { e: "f" } },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "NAMESPACE",
        resources: { requests: { storage: "1Gi" } },
      },
    },
  },
}
export const attributes: Step = {
  create: {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttributesClass",
    metadata: { name: "NAMESPACE" },
    driverName: "csi.example.com",
    parameters: { a: "b" },
  },
}
