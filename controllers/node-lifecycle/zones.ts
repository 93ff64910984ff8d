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

const counts = ({ metadata }: Node): boolean => !Object.hasOwn(metadata.labels ?? {}, exclusionLabel)

/** Nodes per second; 0: no evictions for now. */
export function evictionRate({ up, down }: ZoneCount): number {
  const isUnhealthy = up > 0 && down >= fewestDown && down / (up + down) >= unhealthyPart
  if (!isUnhealthy) return usualRate
  return up + down > largeZone ? reducedRate : 0
}

interface ZoneCount {
  up: number
  down: number
}

/** How many nodes of a tenant are ready in each zone. */
export class NodeCounts {
  readonly #places = new Map<string, { zone: string; isUp: boolean }>()
  readonly #zones = new Map<string, ZoneCount>()
  #up = 0

  constructor(nodes: readonly Node[]) {
    for (const node of nodes) this.set(node)
  }

  /** There are nodes, and no node of any zone is ready. */
  get isAllDown(): boolean {
    return this.#up === 0 && this.#places.size > 0
  }

  rateOf(zone: string): number {
    const count = this.#zones.get(zone)
    return count === undefined ? usualRate : evictionRate(count)
  }

  /** Returns whether this changes what is decided for other nodes, as does delete(). */
  set(node: Node): boolean {
    return this.#move(node.metadata.name ?? "", counts(node) ? { zone: zoneOf(node), isUp: isUp(node) } : undefined)
  }

  delete(name: string): boolean {
    return this.#move(name, undefined)
  }

  #move(name: string, to: { zone: string; isUp: boolean } | undefined): boolean {
    const from = this.#places.get(name)
    if (from?.zone === to?.zone && from?.isUp === to?.isUp) return false
    const zones = [from, to].flatMap((place) => (place === undefined ? [] : [place.zone]))
    const decided = (): string => [this.isAllDown, ...zones.map((zone) => this.rateOf(zone))].join()
    const before = decided()
    if (from !== undefined) this.#count(from, -1)
    if (to === undefined) this.#places.delete(name)
    else {
      this.#places.set(name, to)
      this.#count(to, 1)
    }
    return decided() !== before
  }

  #count({ zone, isUp }: { zone: string; isUp: boolean }, by: 1 | -1): void {
    const { up, down } = this.#zones.get(zone) ?? { up: 0, down: 0 }
    const count = isUp ? { up: up + by, down } : { up, down: down + by }
    if (isUp) this.#up += by
    if (count.up + count.down === 0) this.#zones.delete(zone)
    else this.#zones.set(zone, count)
  }
}

/** Of each zone, as a limiter of upstream: admits one node at once, and further ones at the rate. */
export class EvictionPace {
  /** By zone: when the next node is admitted, unless the rate is 0. */
  readonly #next = new Map<string, { rate: number; at: number }>()

  /**
   * Called whenever something of the zone is looked at. If nodes had to wait before, they also wait at the new rate, as upstream: those of a
   * zone that recovers have time to recover, too.
   */
  follow(zone: string, rate: number, now: number): void {
    const { rate: before, at } = this.#next.get(zone) ?? { rate: usualRate, at: now }
    if (rate === before) return
    const hadToWait = before === 0 || at > now
    this.#next.set(zone, { rate, at: hadToWait ? now + 1000 / rate : now })
  }

  /** Milliseconds to wait at the rate that was followed last, which is not 0; 0: the node is admitted and counted. */
  take(zone: string, now: number): number {
    const { rate, at } = this.#next.get(zone) ?? { rate: usualRate, at: now }
    if (at > now) return at - now
    this.#next.set(zone, { rate, at: now + 1000 / rate })
    return 0
  }
}
