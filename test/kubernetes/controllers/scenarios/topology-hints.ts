// Services that send where it is near.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, podOn } from "./node-steps.ts"
import { patched, service } from "./service-steps.ts"
import { labels, settle } from "./steps.ts"
import { auto } from "./topology-steps.ts"

const pod = (node: string, name: string): Step => podOn(node, name, { labels })
const inZones: Step[] = [
  nodeNamed("a", "NAMESPACE-x"),
  nodeNamed("b", "NAMESPACE-y"),
  pod("a", "one"),
  pod("a", "two"),
  pod("b", "three"),
  { pods: "ready" },
  pod("b", "unready"),
]
const prefers = (trafficDistribution: string | null): Step => patched({ trafficDistribution })

export const topologyHintScenarios: readonly Scenario[] = [
  ...["PreferClose", "PreferSameZone", "PreferSameNode"].map((trafficDistribution): Scenario => ({
    name: `service that prefers ${trafficDistribution}`,
    steps: [service({ trafficDistribution }), ...inZones, settle],
  })),
  {
    name: "service that prefers what is near, and then nothing",
    steps: [service(), ...inZones, settle, prefers("PreferClose"), settle, prefers(null), settle],
  },
  {
    name: "service that prefers its zone, and then its node",
    steps: [service(), ...inZones, settle, prefers("PreferSameZone"), settle, prefers("PreferSameNode"), settle],
  },
  {
    name: "service that prefers what is near and publishes unready pods",
    steps: [service({ trafficDistribution: "PreferClose", publishNotReadyAddresses: true }), ...inZones, settle],
  },
  {
    name: "service that prefers what is near, of pods without a zone",
    nodes: "ready",
    steps: [
      service({ trafficDistribution: "PreferSameNode" }),
      podOn("a", "one", { labels }, { nodeName: null }),
      podOn("a", "two", { labels }, { nodeName: null }),
      settle,
    ],
  },
  {
    name: "service of topology by itself where nodes say no zone",
    steps: [service(), ...inZones, settle, auto, settle],
  },
  {
    name: "service that prefers what is near, and topology",
    steps: [service({ trafficDistribution: "PreferClose" }), ...inZones, settle, auto, settle],
  },
]
