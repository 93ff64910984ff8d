// Claims whose volume goes, comes back, or is another's: bound by the controller, or named by who made the claim.

import type { Scenario, Step } from "../scenario.ts"
import { settle } from "./steps.ts"
import { bound, claim, isIn, volume } from "./volume-steps.ts"

const named = { volumeName: "NAMESPACE-one" }
const isClaimIn = (name: string, phase: string): Step => ({
  until: ["persistentvolumeclaims", name],
  has: { status: { phase } },
})
/** Immediately, regardless of finalizers: upstream records events for a terminating claim only every 15 s. */
const removed = (name: string): Step[] => {
  const full = `NAMESPACE-${name}`
  const unprotected = { metadata: { finalizers: null } }
  return [
    { patch: ["persistentvolumes", full], with: unprotected },
    { delete: ["persistentvolumes", full] },
    { patch: ["persistentvolumes", full], with: unprotected, mayBeGone: true },
    { until: ["persistentvolumes", full], has: null },
  ]
}
const annotated = (annotations: object): Step => ({
  patch: ["persistentvolumeclaims", "data"],
  with: { metadata: { annotations } },
})
const boundClaim = (annotations: object, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", annotations: { "pv.kubernetes.io/bind-completed": "yes", ...annotations } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "NAMESPACE",
      resources: { requests: { storage: "1Gi" } },
      ...spec,
    },
  },
})
const byController = { "pv.kubernetes.io/bound-by-controller": "yes" }

/** Until the claim is bound, and until it has lost its volume. */
const had: Step[] = [volume("one", "5Gi"), isIn("one", "Available"), claim("data", "1Gi", named), bound("data"), settle]
const lost: Step[] = [...had, ...removed("one"), isClaimIn("data", "Lost"), settle]

export const lostClaimScenarios: readonly Scenario[] = [
  { name: "volume that a claim named is deleted", steps: lost },
  {
    name: "volume that a claim named is released",
    steps: [...lost, volume("one", "5Gi"), bound("data"), settle],
  },
  {
    name: "volume that was bound to a claim is released",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "1Gi"),
      bound("data"),
      settle,
      ...removed("one"),
      isClaimIn("data", "Lost"),
      settle,
      volume("one", "5Gi"),
      bound("data"),
      settle,
    ],
  },
  {
    name: "volume that a claim named comes back for it",
    steps: [
      ...lost,
      volume("one", "5Gi", {
        claimRef: { namespace: "NAMESPACE", name: "data", uid: "UID:persistentvolumeclaims/data" },
      }),
      bound("data"),
      settle,
    ],
  },
  {
    name: "volume that a claim named comes back for the claim's name",
    steps: [
      ...lost,
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "data" } }),
      isIn("one", "Available"),
      settle,
    ],
  },
  {
    name: "volume that a claim named comes back for another",
    steps: [
      ...lost,
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "other" } }),
      isIn("one", "Available"),
      claim("other", "1Gi"),
      bound("other"),
      settle,
    ],
  },
  {
    name: "claim that has lost its volume is deleted and recreated",
    steps: [
      ...lost,
      { delete: ["persistentvolumeclaims", "data"] },
      { until: ["persistentvolumeclaims", "data"], has: null },
      claim("data", "1Gi", named),
      settle,
      volume("one", "5Gi"),
      bound("data"),
      settle,
    ],
  },
  {
    name: "claim that has lost its volume is said not to be bound",
    steps: [...lost, annotated({ "pv.kubernetes.io/bind-completed": null }), isClaimIn("data", "Pending"), settle],
  },
  {
    name: "volume that a claim waits for is deleted",
    steps: [
      volume("one", "1Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi", named),
      settle,
      ...removed("one"),
      settle,
      volume("one", "5Gi"),
      bound("data"),
      settle,
    ],
  },
  {
    name: "volume that one claim has and another waits for is deleted",
    steps: [...had, claim("late", "1Gi", named), settle, ...removed("one"), isClaimIn("data", "Lost"), settle],
  },
  {
    name: "volume that another claim waits for is given free",
    steps: [
      ...had,
      claim("late", "1Gi", named),
      settle,
      { delete: ["persistentvolumeclaims", "data"] },
      isIn("one", "Released"),
      settle,
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { spec: { claimRef: null } } },
      bound("late"),
      settle,
    ],
  },
  {
    name: "volume that is bound is said to be another claim's",
    steps: [
      ...had,
      {
        patch: ["persistentvolumes", "NAMESPACE-one"],
        with: { spec: { claimRef: { name: "other", uid: "11111111-1111-4111-8111-111111111111" } } },
      },
      isClaimIn("data", "Lost"),
      settle,
    ],
  },
  {
    name: "claimRef of a bound volume is removed",
    steps: [
      ...had,
      { patch: ["persistentvolumes", "NAMESPACE-one"], with: { spec: { claimRef: null } } },
      { until: ["persistentvolumes", "NAMESPACE-one"], has: { spec: { claimRef: { name: "data" } } } },
      settle,
    ],
  },
  {
    name: "claim said to be bound to a volume that never was",
    steps: [boundClaim({}, named), isClaimIn("data", "Lost"), settle],
  },
  {
    name: "claim said to be bound by the controller to a volume that never was",
    steps: [boundClaim(byController, named), isClaimIn("data", "Lost"), settle],
  },
  { name: "claim said to be bound to no volume", steps: [boundClaim({}), isClaimIn("data", "Lost"), settle] },
  {
    name: "claim that waits and is said to have a volume",
    steps: [
      claim("data", "1Gi", { storageClassName: "" }),
      settle,
      {
        patch: ["persistentvolumeclaims", "data"],
        with: { status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "3Gi" } } },
        subresource: "status",
      },
      isClaimIn("data", "Pending"),
      settle,
    ],
  },
  {
    name: "claim bound to a volume that does not exist",
    steps: [volume("one", "5Gi"), isIn("one", "Available"), boundClaim({}, named), bound("data"), settle],
  },
  {
    name: "claim bound by the controller to what another has is said not to be bound",
    steps: [
      volume("one", "5Gi", { claimRef: { namespace: "NAMESPACE", name: "other" } }),
      isIn("one", "Available"),
      boundClaim(byController, named),
      isClaimIn("data", "Lost"),
      settle,
      annotated({ "pv.kubernetes.io/bind-completed": null }),
      settle,
    ],
  },
]
