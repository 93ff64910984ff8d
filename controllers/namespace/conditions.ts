// The conditions of a terminating namespace, which say why it still exists.
// Source: k8s.io/kubernetes/pkg/controller/namespace/deletion/status_condition_utils.go.

import { timestamp, type Namespace } from "../../apimachinery/object.ts"
import { findCondition } from "../conditions.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

export interface Remaining {
  /** The number of remaining objects by resource. */
  objects: Map<DiscoveredResource, number>
  /** The number of objects that each finalizer holds. */
  finalizers: Map<string, number>
  /** Why deletions failed. */
  failures: string[]
  /** Only pods have been checked. Upstream counts remaining objects only after the pods are gone. */
  waitsForPods: boolean
  discoveryFailure?: string
}

interface Finding {
  type: string
  ok: { reason: string; message: string }
  /** undefined: no problem. */
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
    const since = before?.status === status ? before.lastTransitionTime : timestamp(new Date(now))
    const condition = {
      type,
      status,
      ...(since === undefined ? {} : { lastTransitionTime: since }),
      ...(problem ?? ok),
    }
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
  const problemIf = (reason: string, message: string, applies: boolean): Finding["problem"] =>
    applies ? { reason, message } : undefined
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      ok: { reason: "ResourcesDiscovered", message: "All resources successfully discovered" },
      problem: problemIf("DiscoveryFailed", discoveryFailure ?? "", discoveryFailure !== undefined),
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      ok: { reason: "ParsedGroupVersions", message: "All legacy kube types successfully parsed" },
      problem: undefined,
    },
    {
      type: "NamespaceDeletionContentFailure",
      ok: { reason: "ContentDeleted", message: "All content successfully deleted, may be waiting on finalization" },
      problem: problemIf(
        "ContentDeletionFailed",
        `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(", ")}`,
        failures.length > 0,
      ),
    },
    {
      type: "NamespaceContentRemaining",
      ok: { reason: "ContentRemoved", message: "All content successfully removed" },
      problem: problemIf(
        "SomeResourcesRemain",
        `Some resources are remaining: ${left.sort().join(", ")}`,
        left.length > 0,
      ),
    },
    {
      type: "NamespaceFinalizersRemaining",
      ok: { reason: "ContentHasNoFinalizers", message: "All content-preserving finalizers finished" },
      problem: problemIf(
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${held.sort().join(", ")}`,
        held.length > 0,
      ),
    },
  ]
}
