// What ConfigMaps and Secrets contain. A server lets nobody change contents that are immutable, nor take that back: a copy that somebody in
// super has made immutable, or replaced, stays so until its contents are others than the tenant's, and is then made anew.
//
// That they are immutable is copied, so that kubelets in super do not watch them, for which tenants say so. A kubelet that has seen one immutable
// gives all pods of its node these contents, also after another one has got the name, until none of them uses that name (as of v1.36,
// pkg/kubelet/util/manager/watch_based_manager.go). This is what a tenant gets in any cluster that deletes such an object and creates it again.

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import type { Patch } from "./resource-sync.ts"

interface Contents {
  data?: Record<string, string>
  binaryData?: Record<string, string>
  immutable?: boolean
}

/** Only a new copy can have these contents. */
export function isFixedOtherwise(wanted: Contents, present: Contents): boolean {
  const dataOf = ({ data = {}, binaryData = {} }: Contents): object => ({ data, binaryData })
  return present.immutable === true && !equalIgnoringNulls(dataOf(wanted), dataOf(present))
}

/** What a tenant is told when that is made: only somebody in super can have fixed contents that the tenant changes. */
export const fixedMessage = (wanted: Contents, present: Contents): string | undefined =>
  isFixedOtherwise(wanted, present)
    ? "somebody has made it immutable in the super cluster, where it is made anew with these contents; nodes with pods that use it keep the former ones, also for new pods, until none of these pods is left: replace them"
    : undefined

export function contentsChange(wanted: Contents, present: Contents): Patch[] {
  if (present.immutable === true) return []
  const patch = mergeDiff(present, wanted)
  return patch === undefined ? [] : [{ patch: patch as Record<string, unknown> }]
}
