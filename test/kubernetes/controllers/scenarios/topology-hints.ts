// Services that send where it is near.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, podOn } from "./node-steps.ts"
import { patched, service } from "./service-steps.ts"
import { labels, settle } from "./steps.ts"
import { auto } from "./topology-steps.ts"

const pod = (node: string, name: string): Step => podOn(node, name, { labels: { ...labels, pod: name } })
/** How many that become ready together one round gathers is a matter of moments, and each write of a slice counts. */
const inZones: Step[] = [
  nodeNamed("a", "NAMESPACE-x"),
  nodeNamed("b", "NAMESPACE-y"),
  settle,
  ...["one", "two", "three", "unready"].flatMap((name): Step[] => [
    pod(name === "one" || name === "two" ? "a" : "b", name),
    { pods: name === "unready" ? "unready" : "ready", labels: { pod: name } },
    settle,
  ]),
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
