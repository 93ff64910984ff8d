// The eviction rate of each zone. If a large part of a zone fails at once, the nodes are probably not at fault.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle (ComputeZoneState, handleDisruption), cmd/kube-controller-manager.

import type { Node } from "../../apimachinery/object.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { readyCondition } from "./taints.ts"

/** Nodes per second. */
const usualRate = 0.1
const reducedRate = 0.01
/** In an unhealthy zone of up to this many nodes, no pods are evicted. */
const largeZone = 50
/** A zone is unhealthy if at least this number and this fraction of its nodes are down. */
const fewestDown = 3
const unhealthyPart = 0.55

/** A former label takes precedence over the one that replaced it. */
const regionLabels = ["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"]
const zoneLabels = ["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"]

/** "": nodes without region and zone. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const valueOf = (names: readonly string[]): string =>
    names.map((name) => ownValue(labels, name)).find((value) => value !== undefined) ?? ""
  const [region, zone] = [valueOf(regionLabels), valueOf(zoneLabels)]
  return region === "" && zone === "" ? "" : `${region}\0${zone}`
}

const isUp = (node: Node): boolean => readyCondition(node)?.status === "True"

/** Nodes with this label do not count for a zone's state. */
const exclusionLabel = "node.kubernetes.io/exclude-disruption"

export const counts = ({ metadata }: Node): boolean => !Object.hasOwn(metadata.labels ?? {}, exclusionLabel)

/** There are nodes, and no node of any zone is ready. */
export const allDown = (nodes: readonly Node[]): boolean => nodes.length > 0 && !nodes.some(isUp)

/** Nodes per second; 0: no evictions for now. */
export function evictionRate(nodesOfZone: readonly Node[]): number {
  const down = nodesOfZone.filter((node) => !isUp(node)).length
  const isUnhealthy = down < nodesOfZone.length && down >= fewestDown && down / nodesOfZone.length >= unhealthyPart
  if (!isUnhealthy) return usualRate
  return nodesOfZone.length > largeZone ? reducedRate : 0
}

/** Admits one node immediately, and further ones at the rate. */
export class EvictionPace {
  /** By zone: when the next node is admitted. */
  readonly #next = new Map<string, { rate: number; at: number }>()

  /** Milliseconds to wait; 0: the node is admitted and counted. */
  take(zone: string, rate: number, now: number): number {
    const present = this.#next.get(zone)
    // A changed rate starts over, as upstream creates a new limiter.
    const at = present?.rate === rate ? present.at : now
    if (at > now) return at - now
    this.#next.set(zone, { rate, at: now + 1000 / rate })
    return 0
  }
}
