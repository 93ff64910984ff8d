// Services whose endpoints are given to the zones of all nodes there are, in proportion to their processors.

import type { Scenario, Step } from "../scenario.ts"
import { nodeNamed, noNodes, says } from "./node-steps.ts"
import { service } from "./service-steps.ts"
import { scale, settle } from "./steps.ts"
import { alike, auto } from "./topology-steps.ts"

const zones = ["x", "y", "z"] as const
type Zone = (typeof zones)[number]

/** Upstream counts processors when a node becomes ready, not when it says how many it has. */
const node = (zone: Zone, cpu: string, ready = "True"): Step[] => [
  nodeNamed(zone, zone),
  allocatable(zone, cpu),
  says(zone, ["Ready", ready]),
]
const allocatable = (zone: Zone, cpu: string): Step => ({
  patch: ["nodes", `NAMESPACE-${zone}`],
  with: { status: { allocatable: { cpu } } },
  subresource: "status",
})
const inZone = (node: Zone, zone: string | null): Step => ({
  patch: ["nodes", `NAMESPACE-${node}`],
  with: { metadata: { labels: { "topology.kubernetes.io/zone": zone } } },
})
const [x, y, z] = zones
const pods = (zone: Zone, replicas: number): Step => alike(`in-${zone}`, `NAMESPACE-${zone}`, replicas)
const ready: readonly Step[] = [{ pods: "ready" }, settle]
/** What is counted together and what one after the other is left to chance. */
const begun = (nodes: readonly Step[], ...replicas: number[]): Step[] => [
  noNodes,
  ...nodes,
  ...zones.map((zone, index) => pods(zone, replicas[index] ?? 0)),
  settle,
  ...ready,
  service(),
  settle,
  auto,
  settle,
]
/** Upstream looks at nodes every 5 s. */
const isTainted: Step = {
  until: ["nodes", "NAMESPACE-z"],
  has: { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoExecute" }] } },
}
const three = (...cpus: string[]): Step[] => zones.flatMap((zone, index) => node(zone, cpus[index] ?? "2"))
const scaled = (zone: Zone, replicas: number): Step[] => [scale(replicas, "replicasets", `in-${zone}`), settle]

export const zoneScenarios: readonly Scenario[] = [
  { name: "as many endpoints in each zone", steps: begun(three(), 2, 2, 2) },
  { name: "one zone's endpoints for two others", steps: begun(three(), 5, 2, 2) },
  { name: "all endpoints are in one of three zones", steps: begun(three(), 0, 9) },
  { name: "endpoints are too few for three zones", steps: begun(three(), 4, 2, 2) },
  { name: "zones have few and many processors", steps: begun(three("1", "2", "5"), 6, 0, 6) },
  {
    name: "endpoints come and go in three zones",
    steps: [
      ...begun(three("2", "2", "3"), 4, 4, 4),
      ...scaled(y, 5),
      ...ready,
      ...scaled(z, 5),
      ...ready,
      ...scaled(x, 3),
    ],
  },
  {
    name: "a third zone comes",
    steps: [
      ...begun([...node(x, "2"), ...node(y, "2"), ...node(z, "2", "False")], 3, 3),
      says(z, ["Ready", "True"]),
      settle,
    ],
  },
  {
    name: "a second zone comes",
    steps: [...begun([...node(x, "2"), ...node(y, "2", "False")], 6), says(y, ["Ready", "True"]), settle],
  },
  {
    name: "a zone without endpoints goes",
    steps: [...begun(three(), 5, 4), { delete: ["nodes", "NAMESPACE-z"] }, settle],
  },
  {
    name: "a node is labelled with its zone later",
    steps: [...begun([...node(x, "2"), ...node(y, "2"), inZone(y, null)], 3), inZone(y, "y"), settle],
  },
  {
    name: "a node is in another zone",
    steps: [...begun(three(), 2, 2, 2), inZone(z, "y"), settle],
  },
  {
    name: "a node of one of three zones is not ready",
    steps: [...begun(three(), 2, 2, 2), says(z, ["Ready", "False"]), isTainted, settle],
  },
  {
    name: "a node has more processors than before",
    steps: [...begun(three(), 3, 3, 3), allocatable(z, "20"), settle, ...scaled(z, 4), ...ready],
  },
]
