// PersistentVolumes that are deleted, and those whose claims are.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"
import { bound, claim, isIn, volume } from "./volume-steps.ts"

const inUse: readonly Step[] = [volume("one", "5Gi"), isIn("one", "Available"), claim("data", "2Gi"), bound("data")]
const released: readonly Step[] = [...inUse, { delete: ["persistentvolumeclaims", "data"] }, isIn("one", "Released")]

export const deletedVolumeScenarios: readonly Scenario[] = [
  {
    name: "volume retained after its claim",
    steps: released,
  },
  {
    name: "volume deleted under its claim",
    steps: [
      ...inUse,
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } } },
      { delete: ["persistentvolumes", "NAMESPACE-one"] },
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { metadata: { finalizers: null } }, mayBeGone: true },
      { until: ["persistentvolumeclaims", "data"], has: { status: { phase: "Lost" } } },
    ],
  },
  {
    name: "volume that is given free again",
    steps: [
      ...released,
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { spec: { claimRef: null } } },
      isIn("one", "Available"),
      claim("other", "2Gi"),
      bound("other"),
    ],
  },
  {
    name: "volume that is bound is deleted",
    steps: [...inUse, settle, { delete: ["persistentvolumes", "NAMESPACE-one"] }, settle],
  },
  {
    name: "unbound volume is deleted",
    steps: [volume("one", "5Gi"), isIn("one", "Available"), { delete: ["persistentvolumes", "NAMESPACE-one"] }, settle],
  },
  ...["kubernetes.io/gce-pd", "kubernetes.io/host-path", "kubernetes.io/nothing", "csi.example.com"].map(
    (provisioner): Scenario => ({
      name: `volume provisioned by ${provisioner} deleted with its claim`,
      steps: [
        {
          create: {
            apiVersion: "v1",
            kind: "PersistentVolume",
            metadata: {
              name: "NAMESPACE-one",
              annotations: { "pv.kubernetes.io/provisioned-by": provisioner },
              finalizers: ["external-provisioner.volume.kubernetes.io/finalizer"],
            },
            spec: {
              capacity: { storage: "5Gi" },
              accessModes: ["ReadWriteOnce"],
              storageClassName: "NAMESPACE",
              persistentVolumeReclaimPolicy: "Delete",
              hostPath: { path: "/var/nothing" },
            },
          },
        },
        isIn("one", "Available"),
        claim("data", "2Gi"),
        bound("data"),
        { delete: ["persistentvolumeclaims", "data"] },
        settle,
      ],
    }),
  ),
  {
    name: "volume of a path of a host deleted with its claim",
    steps: [
      volume("one", "5Gi", {
        persistentVolumeReclaimPolicy: "Delete",
        nfs: null,
        hostPath: { path: "/tmp/NAMESPACE" },
      }),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      { until: ["persistentvolumes", "NAMESPACE-one"], has: null },
    ],
  },
]
