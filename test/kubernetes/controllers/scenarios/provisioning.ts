// Claims of StorageClasses, and volumes whose storage goes with their claim.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"
import {
  asks,
  attributes,
  bound,
  claim,
  expandable,
  isIn,
  storageClass,
  user,
  volume,
  without,
} from "./volume-steps.ts"

const nodeChosen: Step = {
  patch: ["persistentvolumeclaims", "data"],
  with: { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n1" } } },
}

export const provisioningScenarios: readonly Scenario[] = [
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
    name: "expanded claim of a migrated disk",
    steps: [
      expandable,
      volume("one", "1Gi", { nfs: null, gcePersistentDisk: { pdName: "d" } }),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      asks("data", "2Gi"),
      settle,
    ],
  },
  {
    name: "claim that names a volume of another class",
    steps: [
      volume("one", "5Gi", { storageClassName: "NAMESPACE-other" }),
      isIn("one", "Available"),
      claim("data", "1Gi", { volumeName: "NAMESPACE-one" }),
      settle,
    ],
  },
  {
    name: "volume to be recycled",
    steps: [
      volume("one", "5Gi", {
        persistentVolumeReclaimPolicy: "Recycle",
        nfs: null,
        iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:storage", lun: 0 },
      }),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Failed"),
      settle,
    ],
  },
  {
    name: "volume of a driver outside deleted with its claim",
    steps: [
      volume("one", "5Gi", {
        persistentVolumeReclaimPolicy: "Delete",
        nfs: null,
        csi: { driver: "csi.example.com", volumeHandle: "h" },
      }),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Released"),
      settle,
    ],
  },
  {
    name: "claim of a class that waits for a pod, which comes",
    steps: [
      storageClass("WaitForFirstConsumer", "csi.example.com"),
      claim("data", "2Gi"),
      settle,
      user("a", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]),
      settle,
      // Upstream looks at claims again every 15 s, or when they change.
      { patch: ["persistentvolumeclaims", "data"], with: { metadata: { labels: { a: "b" } } } },
      settle,
    ],
  },
  {
    name: "claim of a class whose node was chosen",
    steps: [storageClass("WaitForFirstConsumer", "csi.example.com"), claim("data", "2Gi"), settle, nodeChosen, settle],
  },
  {
    name: "claim whose class comes late",
    steps: [
      claim("data", "2Gi"),
      settle,
      storageClass("Immediate", "csi.example.com"),
      // Upstream looks again every 15 s.
      {
        until: ["persistentvolumeclaims", "data"],
        has: { metadata: { annotations: { "volume.kubernetes.io/storage-provisioner": "csi.example.com" } } },
      },
    ],
  },
  {
    name: "claim of a class of a provisioner that is no more",
    steps: [storageClass("Immediate", "kubernetes.io/aws-ebs"), claim("data", "2Gi"), settle],
  },
  {
    name: "claim of a class that provisions nothing",
    steps: [storageClass("Immediate", "kubernetes.io/no-provisioner"), claim("data", "2Gi"), settle],
  },
  {
    name: "claim of a class whose node was chosen, beside a volume that would do",
    steps: [
      storageClass("WaitForFirstConsumer", "csi.example.com"),
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      settle,
      nodeChosen,
      settle,
    ],
  },
  {
    name: "claim of a class of paths of hosts",
    steps: [storageClass("Immediate", "kubernetes.io/host-path"), claim("data", "2Gi"), settle],
  },
  {
    name: "claim of a class of what only recycles",
    steps: [storageClass("Immediate", "kubernetes.io/nfs"), claim("data", "2Gi"), settle],
  },
  {
    name: "claim that was handed to a provisioner that is no more",
    steps: [
      storageClass("Immediate", "csi.example.com"),
      {
        create: {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: {
            name: "data",
            annotations: { "volume.beta.kubernetes.io/storage-provisioner": "kubernetes.io/gce-pd" },
          },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "",
            resources: { requests: { storage: "1Gi" } },
          },
        },
      },
      settle,
    ],
  },
  {
    name: "volume of a network's files deleted with its claim",
    steps: [
      volume("one", "5Gi", { persistentVolumeReclaimPolicy: "Delete" }),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Failed"),
      settle,
    ],
  },
  {
    name: "class of attributes that a claim names",
    steps: [
      attributes,
      claim("data", "1Gi", { volumeAttributesClassName: "NAMESPACE" }),
      settle,
      { delete: ["volumeattributesclasses", "NAMESPACE"] },
      settle,
    ],
  },
  {
    name: "volume attributes class that is not used",
    steps: [attributes, settle, { delete: ["volumeattributesclasses", "NAMESPACE"] }, settle],
  },
]
