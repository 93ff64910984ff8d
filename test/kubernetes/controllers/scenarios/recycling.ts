// Volumes that are emptied by a pod when their claim is gone. One scenario for each kind: upstream's pods of a kind come of one
// template in memory, which two volumes at the same time spoil for each other.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"
import { bound, claim, isIn, user, volume } from "./volume-steps.ts"

const recycled = { persistentVolumeReclaimPolicy: "Recycle" }
const recycler: [string, string, string] = ["pods", "recycler-for-NAMESPACE-one", "default"]
const ended = (status: object): Step => ({ patch: recycler, with: { status }, subresource: "status" })
/** Tried again, which upstream does every 15 s. */
const works = (activeDeadlineSeconds: number, source: object): Step => ({
  until: recycler,
  has: {
    spec: {
      activeDeadlineSeconds,
      restartPolicy: "Never",
      volumes: [{ name: "vol", ...source }],
      containers: [
        {
          name: "pv-recycler",
          image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.6",
          command: ["/bin/sh"],
          args: ["-c", 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'],
          volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
        },
      ],
    },
    status: { phase: "Pending" },
  },
})
/** An event as a kubelet records it for the pod. */
const podEvent = (type: string, message: string): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `NAMESPACE-${type.toLowerCase()}`, namespace: "default" },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "recycler-for-NAMESPACE-one" },
    type,
    reason: "Told",
    message,
  },
})
const removeClaim: Step = { delete: ["persistentvolumeclaims", "data"] }
const isGone: Step = { until: recycler, has: null }
const gaveUp = (text: string): Step => ({
  until: ["persistentvolumes", "NAMESPACE-one"],
  has: { status: { phase: "Failed", message: text } },
})
const path = { hostPath: { path: "/var/nothing" } }
const files = { nfs: { server: "10.0.0.1", path: "/x" } }

export const recyclingScenarios: readonly Scenario[] = [
  {
    name: "volume of a path of a host to be recycled",
    steps: [
      volume("one", "1Gi", { ...recycled, nfs: null, ...path }),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      removeClaim,
      works(60, path),
      podEvent("Normal", "its image was pulled"),
      podEvent("Warning", "its disk is slow"),
      ended({ phase: "Failed", message: "it does not go" }),
      gaveUp("Recycle failed: failed to recycle volume: it does not go"),
      works(60, path),
      ended({ phase: "Succeeded" }),
      isIn("one", "Available"),
      isGone,
      claim("other", "1Gi"),
      bound("other"),
      settle,
    ],
  },
  {
    name: "volume of a network's files to be recycled, reserved for its claim",
    steps: [
      volume("one", "20Gi", { ...recycled, claimRef: { namespace: "NAMESPACE", name: "data" } }),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      removeClaim,
      works(600, files),
      { delete: recycler },
      gaveUp("Recycle failed: failed to recycle volume: recycler pod was deleted"),
      works(600, files),
      ended({ phase: "Failed" }),
      isGone,
      works(600, files),
      ended({ phase: "Succeeded" }),
      isIn("one", "Available"),
      isGone,
      settle,
    ],
  },
  {
    name: "volume to be recycled that a pod still uses",
    steps: [
      volume("one", "1Gi", {
        ...recycled,
        nfs: null,
        iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:storage", lun: 0 },
      }),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      user("a", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }], { nodeName: "n1" }),
      settle,
      removeClaim,
      { patch: ["persistentvolumeclaims", "data"], with: { metadata: { finalizers: null } }, mayBeGone: true },
      isIn("one", "Released"),
      settle,
      { pods: "succeeded" },
      isIn("one", "Failed"),
      settle,
    ],
  },
]
