// An object in the ownership graph of a tenant.

import type { OwnerReference } from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

export interface Node {
  /** In the version in which it was observed last. */
  resource: DiscoveredResource
  namespace: string | undefined
  name: string
  uid: string
  owners: readonly OwnerReference[]
  /** Those of them that it got last, until it is known whether one of them leads to another namespace. */
  unexamined: readonly OwnerReference[]
  /** uids of owners that it has come to name otherwise than before: as upstream, that alone is no reason to look at it. undefined: none. */
  renamed: ReadonlySet<string> | undefined
  /** The object has a deletionTimestamp. */
  isBeingDeleted: boolean
  /** Foreground deletion: the object is removed once its blocking dependents are gone. */
  deletesDependents: boolean
  /** Orphaning: the object is removed once its dependents no longer refer to it. */
  orphansDependents: boolean
}

/** Of an owner: all, or those with references that are unexamined. */
export type Dependents = "all" | "unexamined"

/** Whether it blocks the foreground deletion of this owner. */
export function isBlocking({ owners }: Node, ownerUid: string): boolean {
  return owners.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true)
}
