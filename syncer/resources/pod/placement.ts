// Determines on which virtual nodes a tenant's pod may run where the tenant's view of nodes differs from super's: labels, taints,
// cordons and extended resources that the tenant has set on nodes, and nodes reserved by preemption (../../preemption.ts). All of
// this is decided here, and passed to super's scheduler as node affinity by name and as names of resources. Pure.
//
// Topology spread and pod affinity use super's labels, so they do not see labels that tenants set on nodes.

import { createHash } from "node:crypto"
import { isFinished } from "../../../apimachinery/core/pod-phase.ts"
import {
  matchesNode,
  matchesTerm,
  toleranceOf,
  toleratesTaints,
  type NodeSelectorTerm,
  type TolerationOf,
} from "../../../apimachinery/core/node-selection.ts"
import type { Container, Node, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { isVirtualNode, placementAnnotation, virtualNodeLabel } from "../../../apimachinery/tenancy.ts"
import { nodes as nodeResource } from "../../../client/resources.ts"
import { isExtendedResource, isTenantsResource } from "../../conversion/resource-names.ts"
import type { SyncContext } from "../resource-sync.ts"
import { ownFields } from "../virtual-node.ts"

type NodeAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>

export interface Placement {
  /** Replaces the pod's own; undefined: none. */
  nodeSelector: PodSpec["nodeSelector"] | undefined
  nodeAffinity: NodeAffinity | undefined
  /** Extended resources that the tenant declared. */
  resources: readonly string[]
}

/**
 * Limits of the work for one pod, which grows with both the tenant's nodes and what the pod asks for: taints of all nodes, and nodes
 * multiplied by the items of node selector and node affinity.
 */
const maxTaints = 20_000
const maxComparisons = 50_000

const nameField = "metadata.name"
const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const

/** Matches no node: no node of super has this label. */
const nowhere: NodeSelectorTerm = { matchExpressions: [{ key: virtualNodeLabel, operator: "Exists" }] }
const on = (name: string): NodeSelectorTerm => ({
  matchFields: [{ key: nameField, operator: "In", values: [name] }],
})

/** More than the limits: the pod matches no node. */
export const unplaceable: Placement = {
  nodeSelector: undefined,
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nowhere] } },
  resources: [],
}

/** undefined: the pod's own constraints apply, because super's view is the same as the tenant's. */
export function placementOf(pod: Pod, { view }: SyncContext): Placement | undefined {
  const { spec } = pod
  if (spec === undefined) return undefined
  const all = view.tenantObjects<Node>(nodeResource).filter(isVirtualNode)
  if (all.reduce((sum, node) => sum + ownFields(node).taints.length, 0) > maxTaints) return unplaceable
  const tolerationOf = toleranceOf(spec.tolerations)
  const resources = ownResources(spec, all)
  const kept = reservedNodes(pod, view.nominatedPods())
  const isOpen = (node: Node): boolean => !kept.has(node.metadata.name ?? "") && accepts(node, tolerationOf)
  const closed = all.filter((node) => !isOpen(node)).map(nameOf)
  const ownKeys = new Set(all.flatMap((node) => Object.keys(ownFields(node).labels)))
  const differs = (term: NodeSelectorTerm): boolean =>
    (term.matchExpressions ?? []).some(({ key }) => key === virtualNodeLabel || ownKeys.has(key))

  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution } =
    spec.affinity?.nodeAffinity ?? {}
  const terms = required?.nodeSelectorTerms ?? []
  const selects = Object.keys(spec.nodeSelector ?? {}).some((key) => key === virtualNodeLabel || ownKeys.has(key))
  const byName = selects || terms.some(differs)
  const preferred = preferredDuringSchedulingIgnoredDuringExecution ?? []
  const prefersByName = preferred.some(({ preference }) => differs(preference))
  if (!byName && !prefersByName && closed.length === 0 && resources.length === 0) return undefined
  if (all.length * sizeOf(spec) > maxComparisons) return unplaceable

  const asRequired = byName
    ? all.filter((node) => isOpen(node) && matchesNode(spec, node)).map((node) => on(nameOf(node)))
    : without(closed, terms)
  const asPreferred = preferred.flatMap((one) =>
    differs(one.preference)
      ? all
          .filter((node) => matchesTerm(one.preference, node))
          .map((node) => ({ ...one, preference: on(nameOf(node)) }))
      : [one],
  )
  const isRequired = byName || closed.length > 0 || terms.length > 0
  return {
    nodeSelector: byName ? undefined : spec.nodeSelector,
    nodeAffinity: affinityOf(isRequired ? asRequired : undefined, asPreferred),
    resources,
  }
}

/** `required`: an empty list matches no node; undefined allows all. */
function affinityOf(
  required: NodeSelectorTerm[] | undefined,
  preferred: NonNullable<NodeAffinity["preferredDuringSchedulingIgnoredDuringExecution"]>,
): NodeAffinity | undefined {
  if (required === undefined && preferred.length === 0) return undefined
  const nodeSelectorTerms = required?.length === 0 ? [nowhere] : required
  return {
    ...(nodeSelectorTerms === undefined
      ? {}
      : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } }),
    ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  }
}

/**
 * The annotation with which the super pod is created: what was asked of super's scheduler, if that differs from what the pod asks, or
 * if the pod is gated, so that it may still ask for something else.
 */
export function printPlacement(pod: Pod, placement: Placement | undefined): Record<string, string> {
  const isGated = (pod.spec?.schedulingGates?.length ?? 0) > 0
  return placement === undefined && !isGated ? {} : { [placementAnnotation]: digestOf(pod, placement) }
}

function digestOf({ spec }: Pod, placement: Placement | undefined): string {
  const { nodeSelector, affinity } = spec ?? {}
  const asked: Placement = placement ?? { nodeSelector, nodeAffinity: affinity?.nodeAffinity, resources: [] }
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, 16)
}

/**
 * Whether the copy must be recreated: the tenant's scheduler has bound the pod, or the tenant's nodes, or the node selection of the
 * gated pod, have changed since the copy was created, so that it waits for the wrong nodes. If both schedulers bind the pod at the
 * same time, the tenant's decision counts.
 */
export function isMisplaced(pod: Pod, superPod: Pod, context: SyncContext): boolean {
  const here = pod.spec?.nodeName ?? ""
  const there = superPod.spec?.nodeName ?? ""
  if (there !== "") return here !== "" && here !== there && !isFinished(pod)
  if (here !== "") return true
  const placement = placementOf(pod, context)
  const made = superPod.metadata.annotations?.[placementAnnotation]
  return made === undefined ? placement !== undefined : made !== digestOf(pod, placement)
}

const nameOf = ({ metadata }: Node): string => metadata.name ?? ""

/** Checks only what super does not know; super checks its own taints itself. */
function accepts(node: Node, tolerationOf: TolerationOf): boolean {
  const own = ownFields(node)
  if (own.unschedulable && tolerationOf(cordon) === undefined) return false
  return toleratesTaints(tolerationOf, own.taints)
}

/** The number of items in the node selector and node affinity. */
function sizeOf({ nodeSelector, affinity }: PodSpec): number {
  const { requiredDuringSchedulingIgnoredDuringExecution, preferredDuringSchedulingIgnoredDuringExecution } =
    affinity?.nodeAffinity ?? {}
  const terms = [
    ...(requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []),
    ...(preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ preference }) => preference),
  ]
  const ofTerms = terms.map(({ matchExpressions = [], matchFields = [] }) =>
    [...matchExpressions, ...matchFields].reduce((sum, { values = [] }) => sum + 1 + values.length, 1),
  )
  return Object.keys(nodeSelector ?? {}).length + ofTerms.reduce((sum, size) => sum + size, 0)
}

/** Nodes reserved for pods of higher priority. */
function reservedNodes({ metadata, spec }: Pod, nominated: readonly Pod[]): Set<string> {
  const kept = new Set<string>()
  for (const other of nominated) {
    const isHigher = (other.spec?.priority ?? 0) > (spec?.priority ?? 0)
    const name = other.status?.nominatedNodeName
    if (isHigher && name !== undefined && other.metadata.uid !== metadata.uid) kept.add(name)
  }
  return kept
}

/** The pod's own terms, changed to exclude the closed nodes. An empty term matches no node. */
function without(closed: readonly string[], terms: readonly NodeSelectorTerm[]): NodeSelectorTerm[] {
  if (closed.length === 0) return [...terms]
  const not = closed.map((name) => ({ key: nameField, operator: "NotIn" as const, values: [name] }))
  if (terms.length === 0) return [{ matchFields: not }]
  return terms
    .filter(({ matchExpressions = [], matchFields = [] }) => matchExpressions.length + matchFields.length > 0)
    .map((term) => ({ ...term, matchFields: [...(term.matchFields ?? []), ...not] }))
}

/** Extended resources in the pod's requests that only the tenant declared, and names that super uses for resources of tenants. */
function ownResources(spec: PodSpec, all: readonly Node[]): string[] {
  const asked = new Set<string>()
  for (const { resources } of [...spec.containers, ...(spec.initContainers ?? [])] as Container[]) {
    for (const name of Object.keys({ ...resources?.requests, ...resources?.limits })) {
      if (isExtendedResource(name)) asked.add(name)
    }
  }
  if (asked.size === 0) return []
  const isOwn = (name: string): boolean =>
    all.some((node) => ownFields(node).resources[name] !== undefined) && !all.some((node) => hasFromSuper(node, name))
  return [...asked].filter((name) => isTenantsResource(name) || isOwn(name)).sort()
}

function hasFromSuper(node: Node, name: string): boolean {
  const capacity = (node.status?.capacity ?? {}) as Record<string, string>
  return capacity[name] !== undefined && ownFields(node).resources[name] === undefined
}
