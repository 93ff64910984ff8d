// Pods with claims, and claims that pods use.

import type { Scenario } from "../scenario.ts"
import { settle } from "./steps.ts"
import { bound, claim, isIn, scratch, user, volume } from "./volume-steps.ts"

export const podClaimScenarios: readonly Scenario[] = [
  {
    name: "claim for a single pod's use",
    steps: [
      volume("many", "5Gi", { accessModes: ["ReadWriteOnce", "ReadWriteMany"] }),
      volume("single", "5Gi", { accessModes: ["ReadWriteOncePod"] }),
      isIn("many", "Available"),
      isIn("single", "Available"),
      claim("data", "1Gi", { accessModes: ["ReadWriteOncePod"] }),
      bound("data"),
    ],
  },
  {
    name: "claim that a pod uses is deleted",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      user("a", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }], { nodeName: "n1" }),
      settle,
      { delete: ["persistentvolumeclaims", "data"] },
      settle,
    ],
  },
  {
    name: "claim that an ended pod used is deleted",
    nodes: "bound",
    steps: [
      volume("one", "5Gi"),
      isIn("one", "Available"),
      claim("data", "2Gi"),
      bound("data"),
      user("a", [{ name: "v", persistentVolumeClaim: { claimName: "data" } }]),
      settle,
      { pods: "succeeded" },
      settle,
      { delete: ["persistentvolumeclaims", "data"] },
      settle,
    ],
  },
  {
    name: "pod with a volume of its own",
    nodes: "bound",
    steps: [user("a", [scratch]), settle],
  },
  {
    name: "pod with a volume of its own that is deleted",
    nodes: "bound",
    steps: [user("a", [scratch]), settle, { deletePods: {} }, settle],
  },
  {
    name: "pod whose own volume's claim is another's",
    nodes: "bound",
    steps: [claim("a-scratch", "1Gi"), user("a", [scratch]), settle],
  },
]
