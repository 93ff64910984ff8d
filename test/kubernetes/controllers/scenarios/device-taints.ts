// Pods whose devices are tainted.

import type { Scenario, Step } from "../scenario.ts"
import { driver, resourceClaim, resourceSlice } from "./device-steps.ts"
import { container, settle } from "./steps.ts"

const broken = { key: "example.com/broken", value: "yes", effect: "NoExecute" }
const devices = (taints: object[]): object[] => [{ name: "gpu", taints }, { name: "other" }]
const slice = (taints: object[], generation = 1, name = "NAMESPACE"): Step =>
  resourceSlice(name, generation, devices(taints))
const tainted = (...taints: object[]): Step => ({
  patch: ["resourceslices", "NAMESPACE"],
  with: { spec: { devices: devices(taints) } },
})
const claim = resourceClaim("gpu")
const pod = (name: string, metadata: object = {}, spec: object = {}): Step => ({
  create: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: {
      nodeName: "n1",
      containers: [container("one")],
      resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }],
      ...spec,
    },
  },
})
/** As a scheduler would. */
const allocated = (device: string, users: string[], tolerations: object[] = []): Step => ({
  patch: ["resourceclaims", "gpu"],
  with: {
    status: {
      allocation: { devices: { results: [{ request: "gpu", driver, pool: "NAMESPACE", device, tolerations }] } },
      reservedFor: users.map((name) => ({ resource: "pods", name, uid: `UID:pods/${name}` })),
    },
  },
  subresource: "status",
})
const isGone = (name: string): Step => ({ until: ["pods", name], has: null })
const goes: Step = { until: ["pods", "one"], has: { metadata: { deletionGracePeriodSeconds: 30 } } }

/** A pod with a device, of a claim with these tolerations. */
const has = (tolerations: object[] = [], device = "gpu"): Step[] => [
  slice([]),
  claim,
  pod("one"),
  allocated(device, ["one"], tolerations),
  settle,
]

/** A device is tainted under a pod that is evicted, and held. */
const underHeldPod: Step[] = [
  slice([]),
  claim,
  pod("one", { finalizers: ["example.com/hold"] }),
  allocated("gpu", ["one"]),
  settle,
  tainted(broken),
  goes,
  settle,
]

export const deviceTaintScenarios: readonly Scenario[] = [
  { name: "device that is tainted under its pod", steps: [...has(), tainted(broken), goes, settle] },
  {
    name: "device that is tainted under pods that are ready",
    nodes: "ready",
    steps: [
      slice([]),
      claim,
      pod("one"),
      pod("two"),
      allocated("gpu", ["one", "two"]),
      settle,
      tainted(broken),
      isGone("one"),
      isGone("two"),
      settle,
    ],
  },
  { name: "device beside one that is tainted", steps: [...has([], "other"), tainted(broken), settle] },
  {
    name: "device that is tainted for new pods alone",
    steps: [...has(), tainted({ ...broken, effect: "NoSchedule" }), settle],
  },
  {
    name: "device whose taint has the effect None",
    steps: [...has(), tainted({ ...broken, effect: "None" }), settle],
  },
  {
    name: "device whose taint is tolerated",
    steps: [...has([{ key: "example.com/broken", operator: "Exists", effect: "NoExecute" }]), tainted(broken), settle],
  },
  {
    name: "device whose taint is tolerated for no effect",
    steps: [...has([{ key: "example.com/broken", operator: "Exists" }]), tainted(broken), goes, settle],
  },
  {
    name: "device whose taint is tolerated for a long and a short while",
    steps: [
      ...has([3600, 5].map((tolerationSeconds) => ({ operator: "Exists", effect: "NoExecute", tolerationSeconds }))),
      tainted(broken),
      goes,
      settle,
    ],
  },
  {
    name: "device whose taint is tolerated for a while",
    steps: [...has([{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }]), tainted(broken), goes, settle],
  },
  {
    name: "device that is mended before its pod has to go",
    steps: [
      ...has([{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 3600 }]),
      tainted(broken),
      settle,
      tainted(),
      settle,
    ],
  },
  {
    name: "device that is mended while its pod goes already",
    steps: [
      ...has([{ operator: "Exists", effect: "NoExecute", tolerationSeconds: 3600 }]),
      tainted(broken),
      settle,
      { delete: ["pods", "one"] },
      settle,
      tainted(),
      settle,
    ],
  },
  {
    name: "device of another value than its pod tolerates",
    steps: [
      ...has([{ key: "example.com/broken", operator: "Equal", value: "no", effect: "NoExecute" }]),
      tainted(broken),
      goes,
      settle,
    ],
  },
  {
    name: "device that is tainted as it is given",
    steps: [slice([broken]), claim, pod("one"), settle, allocated("gpu", ["one"]), goes, settle],
  },
  {
    name: "device that is tainted before its pod has a node",
    steps: [
      slice([broken]),
      claim,
      pod("one", {}, { nodeName: null }),
      allocated("gpu", ["one"]),
      settle,
      { bind: ["one", "n1"] },
      goes,
      settle,
    ],
  },
  {
    name: "device that is tainted and that its pod does not say it uses",
    steps: [
      slice([]),
      claim,
      pod("one", {}, { resourceClaims: null }),
      allocated("gpu", ["one"]),
      settle,
      tainted(broken),
      settle,
    ],
  },
  {
    name: "device that newer words of its pool call tainted",
    steps: [...has(), slice([broken], 2, "NAMESPACE-newer"), goes, settle],
  },
  {
    name: "device that older words of its pool call tainted",
    steps: [...has(), slice([broken], 0, "NAMESPACE-older"), settle],
  },
  {
    name: "device that is tainted under a pod that has ended",
    steps: [...has(), { pods: "succeeded" }, settle, tainted(broken), settle],
  },
  {
    name: "device that is tainted under a pod that is held",
    steps: underHeldPod,
  },
  {
    name: "device that is tainted once more under a pod that is held, and mended",
    steps: [
      ...underHeldPod,
      tainted(broken, { key: "example.com/slow", effect: "NoExecute" }),
      settle,
      tainted(),
      settle,
    ],
  },
]
