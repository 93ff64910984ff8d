// Constraints between pods: affinity, anti-affinity and spreading over topology domains (a label key and a value of it).
// Evaluated once per pod over all nodes, so that the check of a node is a lookup. Rules and messages are kube-scheduler's
// (plugins interpodaffinity, podtopologyspread).

import type { Node, Pod } from "../../apimachinery/object.ts"
import { matches, selectorFromLabelSelector, type Selector } from "../../apimachinery/labels.ts"
import { matchesNode } from "../../apimachinery/core/node-selection.ts"
import type { NodeState } from "./node-state.ts"

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>
type AffinityTerm = NonNullable<
  NonNullable<Affinity["podAntiAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>[number]
type SpreadConstraint = NonNullable<NonNullable<Pod["spec"]>["topologySpreadConstraints"]>[number]

/** Labels of a namespace, for namespace selectors. */
type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>> | undefined

/** The reason why a node is excluded, or undefined. */
type TopologyCheck = (node: Node) => string | undefined

const faults = {
  affinity: "node(s) didn't match pod affinity rules",
  antiAffinity: "node(s) didn't match pod anti-affinity rules",
  existing: "node(s) didn't satisfy existing pods anti-affinity rules",
  spread: "node(s) didn't match pod topology spread constraints",
  spreadLabel: "node(s) didn't match pod topology spread constraints (missing required label)",
} as const

function domainOf(node: Node, key: string): string | undefined {
  return node.metadata.labels?.[key]
}

/** Returns a predicate for the pods that a term of `owner` selects. */
function termMatcher(term: AffinityTerm, owner: Pod, labelsOf: NamespaceLabels): (other: Pod) => boolean {
  const selector = selectorFromLabelSelector(term.labelSelector)
  const named = new Set(term.namespaces ?? [])
  const byLabels = term.namespaceSelector === undefined ? undefined : selectorFromLabelSelector(term.namespaceSelector)
  if (named.size === 0 && byLabels === undefined) named.add(owner.metadata.namespace ?? "")
  return (other) => {
    const namespace = other.metadata.namespace ?? ""
    const matched = named.has(namespace) || (byLabels !== undefined && matches(byLabels, labelsOf(namespace) ?? {}))
    return matched && matches(selector, other.metadata.labels)
  }
}

/** The checks for a pod, in the order of the scheduler's plugins. */
export function topologyChecks(pod: Pod, states: Iterable<NodeState>, labelsOf: NamespaceLabels): TopologyCheck[] {
  const all = [...states]
  const affinity = pod.spec?.affinity
  return [
    ...(pod.spec?.topologySpreadConstraints ?? [])
      .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule")
      .map((constraint) => spreadCheck(constraint, pod, all)),
    existingCheck(pod, all, labelsOf),
    ...(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) =>
      antiAffinityCheck(term, pod, all, labelsOf),
    ),
    affinityCheck(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [], pod, all, labelsOf),
  ]
}

/** Values of the term's topology key for which a selected pod exists. */
function occupiedDomains(
  term: AffinityTerm,
  matcher: (other: Pod) => boolean,
  states: readonly NodeState[],
): Set<string> {
  const domains = new Set<string>()
  for (const state of states) {
    const domain = domainOf(state.node, term.topologyKey)
    if (domain === undefined || domains.has(domain)) continue
    for (const other of state.pods()) {
      if (!matcher(other)) continue
      domains.add(domain)
      break
    }
  }
  return domains
}

function antiAffinityCheck(
  term: AffinityTerm,
  pod: Pod,
  states: readonly NodeState[],
  labelsOf: NamespaceLabels,
): TopologyCheck {
  const domains = occupiedDomains(term, termMatcher(term, pod, labelsOf), states)
  return (node) => (domains.has(domainOf(node, term.topologyKey) ?? "\0") ? faults.antiAffinity : undefined)
}

/** Anti-affinity of existing pods against this one. */
function existingCheck(pod: Pod, states: readonly NodeState[], labelsOf: NamespaceLabels): TopologyCheck {
  const forbidden = new Map<string, Set<string>>()
  for (const state of states) {
    for (const other of state.antiAffinityPods.values()) {
      const terms = other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
      for (const term of terms) {
        const domain = domainOf(state.node, term.topologyKey)
        if (domain === undefined || !termMatcher(term, other, labelsOf)(pod)) continue
        const domains = forbidden.get(term.topologyKey) ?? new Set()
        forbidden.set(term.topologyKey, domains.add(domain))
      }
    }
  }
  return (node) => {
    for (const [key, domains] of forbidden) if (domains.has(domainOf(node, key) ?? "\0")) return faults.existing
    return undefined
  }
}

/** All terms must be satisfied. The first pod of a group with affinity to itself may run anywhere. */
function affinityCheck(
  terms: readonly AffinityTerm[],
  pod: Pod,
  states: readonly NodeState[],
  labelsOf: NamespaceLabels,
): TopologyCheck {
  const wanted = terms.map((term) => {
    const meant = termMatcher(term, pod, labelsOf)
    return { key: term.topologyKey, domains: occupiedDomains(term, meant, states), self: meant(pod) }
  })
  const first = wanted.every(({ domains, self }) => domains.size === 0 && self)
  return (node) => {
    const fits = wanted.every(({ key, domains }) => {
      const domain = domainOf(node, key)
      return domain !== undefined && (first || domains.has(domain))
    })
    return fits ? undefined : faults.affinity
  }
}

/** A constraint's selector, extended by this pod's values of matchLabelKeys. */
function spreadSelector(constraint: SpreadConstraint, pod: Pod): Selector {
  const labels = pod.metadata.labels ?? {}
  const { requirements } = selectorFromLabelSelector(constraint.labelSelector)
  const more = (constraint.matchLabelKeys ?? []).flatMap((key) => {
    const value = labels[key]
    return value === undefined ? [] : [{ key, operator: "=" as const, values: [value] }]
  })
  return { requirements: [...requirements, ...more] }
}

/** Number of matching pods per domain, over the nodes that the constraint includes. */
export function spreadCounts(
  constraint: SpreadConstraint,
  pod: Pod,
  states: readonly NodeState[],
): Map<string, number> {
  const selector = spreadSelector(constraint, pod)
  const counts = new Map<string, number>()
  for (const state of states) {
    const domain = domainOf(state.node, constraint.topologyKey)
    if (domain === undefined) continue
    if (constraint.nodeAffinityPolicy !== "Ignore" && !matchesNode(pod.spec, state.node)) continue
    let count = counts.get(domain) ?? 0
    for (const other of state.pods()) {
      const counted =
        other.metadata.namespace === pod.metadata.namespace && other.metadata.deletionTimestamp === undefined
      if (counted && matches(selector, other.metadata.labels)) count++
    }
    counts.set(domain, count)
  }
  return counts
}

function spreadCheck(constraint: SpreadConstraint, pod: Pod, states: readonly NodeState[]): TopologyCheck {
  const counts = spreadCounts(constraint, pod, states)
  const least = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values())
  const self = matches(spreadSelector(constraint, pod), pod.metadata.labels) ? 1 : 0
  return (node) => {
    const domain = domainOf(node, constraint.topologyKey)
    if (domain === undefined) return faults.spreadLabel
    return (counts.get(domain) ?? 0) + self - least > constraint.maxSkew ? faults.spread : undefined
  }
}
