// How fast pods are driven from the nodes of a zone: when much of it fails at once, the fault is rather not with the nodes.
// Source: k8s.io/kubernetes/pkg/controller/nodelifecycle (ComputeZoneState, handleDisruption), cmd/kube-controller-manager.

import type { Node } from "../../apimachinery/object.ts"
import { readyCondition } from "./taints.ts"

/** Nodes per second. */
const usualRate = 0.1
const reducedRate = 0.01
/** A zone of so many nodes or fewer is not emptied at all while it is unhealthy. */
const largeZone = 50
/** As many must be down, and such a part of all. */
const fewestDown = 3
const unhealthyPart = 0.55

const regionLabel = "topology.kubernetes.io/region"
const zoneLabel = "topology.kubernetes.io/zone"

/** "": nodes that say neither. */
export function zoneOf({ metadata }: Node): string {
  const { [regionLabel]: region = "", [zoneLabel]: zone = "" } = metadata.labels ?? {}
  return region === "" && zone === "" ? "" : `${region}\0${zone}`
}

const isUp = (node: Node): boolean => readyCondition(node)?.status === "True"

/** Who wears it says nothing of how much has failed. */
const exclusionLabel = "node.kubernetes.io/exclude-disruption"

export const counts = ({ metadata }: Node): boolean => !Object.hasOwn(metadata.labels ?? {}, exclusionLabel)

/** There are nodes, and none of any zone is ready. */
export const allDown = (nodes: readonly Node[]): boolean => nodes.length > 0 && !nodes.some(isUp)

/** Nodes per second; 0: none for now. */
export function evictionRate(nodesOfZone: readonly Node[]): number {
  const down = nodesOfZone.filter((node) => !isUp(node)).length
  const isUnhealthy = down < nodesOfZone.length && down >= fewestDown && down / nodesOfZone.length >= unhealthyPart
  if (!isUnhealthy) return usualRate
  return nodesOfZone.length > largeZone ? reducedRate : 0
}

/** Lets one node through at once, and then as many as the rate says. */
export class EvictionPace {
  /** By zone: when the next one may go. */
  readonly #next = new Map<string, { rate: number; at: number }>()

  /** Milliseconds to wait; 0: it may go, and is counted. */
  take(zone: string, rate: number, now: number): number {
    const present = this.#next.get(zone)
    // Another rate begins anew, as upstream's limiter is made anew.
    const at = present?.rate === rate ? present.at : now
    if (at > now) return at - now
    this.#next.set(zone, { rate, at: now + 1000 / rate })
    return 0
  }
}
