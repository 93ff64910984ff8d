// Services of two families: one that changes them, and others by chance.

import { randomScenario } from "../random/index.ts"
import type { Scenario } from "../scenario.ts"
import { patched, pod, service } from "./service-steps.ts"
import { settle } from "./steps.ts"

const seeds = [9100, 9101, 9102, 9104, 9105, 9106, 9107]
const both = { families: ["IPv6", "IPv4"] } as const

export const dualStackScenarios: readonly Scenario[] = [
  {
    name: "service gets a second family and loses it",
    nodes: "bound",
    steps: [
      service(),
      pod("a"),
      settle,
      { pods: both },
      settle,
      patched({ ipFamilyPolicy: "PreferDualStack" }),
      settle,
      patched({ ipFamilyPolicy: "SingleStack" }),
      settle,
    ],
  },
  {
    name: "service of IPv6 with pods of either family",
    nodes: "bound",
    steps: [
      service({ ipFamilies: ["IPv6"] }),
      pod("a", {}, { labels: { app: "web", pod: "a" } }),
      pod("b", {}, { labels: { app: "web", pod: "b" } }),
      settle,
      { pods: both, labels: { pod: "a" } },
      { pods: "ready", labels: { pod: "b" } },
      settle,
      patched({ clusterIP: null, clusterIPs: null, type: "ExternalName", externalName: "example.com" }),
      settle,
      patched({ type: "ClusterIP", externalName: null, ipFamilyPolicy: "RequireDualStack" }),
      settle,
    ],
  },
  ...seeds.map((seed) => randomScenario("Service", seed)),
]
