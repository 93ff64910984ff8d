// The scheduler's state of a node: the object, and sums over the pods bound to it, which are updated for each pod.

import type { Node, Pod, PodSpec } from "../../apimachinery/object.ts"
import { milliValue, parseQuantity, unitValue } from "../../apimachinery/quantity.ts"

/** cpu in thousandths, everything else in units. */
export type Resources = Map<string, number>

const amount = (resource: string, text: string): number =>
  resource === "cpu" ? milliValue(parseQuantity(text)) : unitValue(parseQuantity(text))

function sum(into: Resources, list: Record<string, string> | undefined): Resources {
  for (const [name, text] of Object.entries(list ?? {})) into.set(name, (into.get(name) ?? 0) + amount(name, text))
  return into
}

/** Requests of a pod: the sum of containers and sidecars, or the largest init container; plus overhead. */
export function podRequests(spec: PodSpec | undefined): Resources {
  const total: Resources = new Map()
  for (const { resources } of spec?.containers ?? []) sum(total, resources?.requests)
  const sidecars: Resources = new Map()
  const peak: Resources = new Map()
  for (const { resources, restartPolicy } of spec?.initContainers ?? []) {
    if (restartPolicy === "Always") {
      sum(sidecars, resources?.requests)
      continue
    }
    const during = sum(new Map(sidecars), resources?.requests)
    for (const [name, value] of during) peak.set(name, Math.max(peak.get(name) ?? 0, value))
  }
  for (const [name, value] of sidecars) total.set(name, (total.get(name) ?? 0) + value)
  for (const [name, value] of peak) total.set(name, Math.max(total.get(name) ?? 0, value))
  return sum(total, spec?.overhead)
}

export function hostPorts(spec: PodSpec | undefined): string[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, protocol }) => (hostPort ? [`${protocol ?? "TCP"}/${hostPort}`] : [])),
  )
}

function hasAntiAffinity(pod: Pod): boolean {
  return (pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0
}

/** A pod with the requests that were added for it, so that removing it subtracts the same. */
interface Counted {
  pod: Pod
  requests: Resources
  ports: readonly string[]
}

export class NodeState {
  node: Node
  readonly #pods = new Map<string, Counted>()
  readonly requested: Resources = new Map()
  readonly ports = new Set<string>()
  /** Number of pods per owner uid, for spreading. */
  readonly owners = new Map<string, number>()
  /** Pods with anti-affinity: every candidate is checked against them. */
  readonly antiAffinityPods = new Map<string, Pod>()
  allocatable: Resources = new Map()

  constructor(node: Node) {
    this.node = node
    this.setNode(node)
  }

  get name(): string {
    return this.node.metadata.name ?? ""
  }

  get size(): number {
    return this.#pods.size
  }

  *pods(): Iterable<Pod> {
    for (const { pod } of this.#pods.values()) yield pod
  }

  has(uid: string): boolean {
    return this.#pods.has(uid)
  }

  setNode(node: Node): void {
    this.node = node
    this.allocatable = sum(new Map(), node.status?.allocatable)
  }

  add(pod: Pod): void {
    const uid = pod.metadata.uid ?? ""
    const present = this.#pods.get(uid)
    if (present !== undefined && present.pod.metadata.generation === pod.metadata.generation) {
      present.pod = pod // only status or metadata changed: the sums remain valid
      return
    }
    this.remove(uid)
    const counted: Counted = { pod, requests: podRequests(pod.spec), ports: hostPorts(pod.spec) }
    this.#pods.set(uid, counted)
    this.#count(counted, 1)
    for (const port of counted.ports) this.ports.add(port)
    if (hasAntiAffinity(pod)) this.antiAffinityPods.set(uid, pod)
  }

  remove(uid: string): void {
    const counted = this.#pods.get(uid)
    if (counted === undefined) return
    this.#pods.delete(uid)
    this.#count(counted, -1)
    for (const port of counted.ports) this.ports.delete(port)
    this.antiAffinityPods.delete(uid)
  }

  #count({ pod, requests }: Counted, sign: 1 | -1): void {
    for (const [name, value] of requests) this.requested.set(name, (this.requested.get(name) ?? 0) + sign * value)
    const owner = pod.metadata.ownerReferences?.[0]?.uid
    if (owner === undefined) return
    const left = (this.owners.get(owner) ?? 0) + sign
    if (left > 0) this.owners.set(owner, left)
    else this.owners.delete(owner)
  }
}
