// What a namespace on its way out says about why it is still there.
// Source: k8s.io/kubernetes/pkg/controller/namespace/deletion/status_condition_utils.go.

import { timestamp, type Namespace } from "../../apimachinery/object.ts"
import { findCondition } from "../conditions.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

export interface Remaining {
  /** How many objects are left of each resource. */
  objects: Map<DiscoveredResource, number>
  /** How many objects each finalizer holds. */
  finalizers: Map<string, number>
  /** Why deleting failed. */
  failures: string[]
  /** Nothing but pods has been looked at. Upstream counts what is left only after they are gone. */
  waitsForPods: boolean
  discoveryFailure?: string
}

interface Finding {
  type: string
  ok: { reason: string; message: string }
  /** undefined: there is nothing to tell. */
  problem: { reason: string; message: string } | undefined
}

type NamespaceCondition = NonNullable<NonNullable<Namespace["status"]>["conditions"]>[number]

export function namespaceConditions(
  current: readonly NamespaceCondition[],
  remaining: Remaining,
  now: number,
): NamespaceCondition[] {
  const conditions = [...current]
  for (const { type, ok, problem } of findings(remaining)) {
    const status = problem === undefined ? "False" : "True"
    const before = findCondition(conditions, type)
    const since = before?.status === status ? before.lastTransitionTime : undefined
    const condition = { type, status, lastTransitionTime: since ?? timestamp(new Date(now)), ...(problem ?? ok) }
    if (before === undefined) conditions.push(condition)
    else conditions[conditions.indexOf(before)] = condition
  }
  return conditions
}

function findings({ objects, finalizers, failures, waitsForPods, discoveryFailure }: Remaining): Finding[] {
  const left = [...(waitsForPods ? [] : objects)].map(
    ([{ resource, group }, count]) => `${resource}.${group} has ${count} resource instances`,
  )
  const held = [...(waitsForPods ? [] : finalizers)].map(
    ([finalizer, count]) => `${finalizer} in ${count} resource instances`,
  )
  const told = (reason: string, message: string, isSo: boolean): Finding["problem"] =>
    isSo ? { reason, message } : undefined
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      ok: { reason: "ResourcesDiscovered", message: "All resources successfully discovered" },
      problem: told("DiscoveryFailed", discoveryFailure ?? "", discoveryFailure !== undefined),
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      ok: { reason: "ParsedGroupVersions", message: "All legacy kube types successfully parsed" },
      problem: undefined,
    },
    {
      type: "NamespaceDeletionContentFailure",
      ok: { reason: "ContentDeleted", message: "All content successfully deleted, may be waiting on finalization" },
      problem: told(
        "ContentDeletionFailed",
        `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(", ")}`,
        failures.length > 0,
      ),
    },
    {
      type: "NamespaceContentRemaining",
      ok: { reason: "ContentRemoved", message: "All content successfully removed" },
      problem: told("SomeResourcesRemain", `Some resources are remaining: ${left.sort().join(", ")}`, left.length > 0),
    },
    {
      type: "NamespaceFinalizersRemaining",
      ok: { reason: "ContentHasNoFinalizers", message: "All content-preserving finalizers finished" },
      problem: told(
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${held.sort().join(", ")}`,
        held.length > 0,
      ),
    },
  ]
}
