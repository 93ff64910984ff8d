// The ownership graph of one tenant. It contains only objects that have owners, and objects being deleted whose dependents must be
// deleted or orphaned first, and of these only what decisions need. An object without owners costs no memory.

import { printGroupVersion, type KubeObject, type OwnerReference } from "../../apimachinery/object.ts"
import { mostAtOnce } from "../../apimachinery/steps.ts"
import type { DiscoveredResource } from "../../client/rest.ts"
import { type Dependents, isBlocking, type Node } from "./node.ts"
import { coordinates, isPlaceOf } from "./references.ts"

export const foregroundFinalizer = "foregroundDeletion"
export const orphanFinalizer = "orphan"

interface Owner {
  dependents: Set<Node>
  /** Coordinates of the references that were looked up. The same uid with other coordinates is another reference. */
  found: Set<string>
  absent: Set<string>
  /** Coordinates for which one of the dependents is performing a lookup. */
  asked: Set<string>
  /** The owner existed and was deleted. A uid is never reused. */
  isGone: boolean
  /** Where a search through all namespaces found the owner; "" if nowhere. */
  elsewhere?: string
}

/** absent: no such object; gone: an object with this uid existed somewhere; undefined: must be looked up. */
type Known = "found" | "absent" | "gone" | undefined

interface GraphSink {
  /** Reconcile the object with this uid now. */
  enqueue(uid: string): void
  /** Reconcile the dependents of the object with this uid, which are very many, with turns for others in between. */
  enqueueDependents(uid: string, which: Dependents): void
  /** Reconcile the object with this uid soon: of its dependents, so many of which remain, one is gone. */
  enqueueWaiting(uid: string, remaining: number): void
  /** The owner is known to exist, and {@link Graph.gone} will be called when it is deleted. */
  isThere(owner: OwnerReference, namespace: string | undefined): boolean
}

export class Graph {
  readonly #nodes = new Map<string, Node>()
  /** By the owner's uid. */
  readonly #owners = new Map<string, Owner>()
  readonly #sink: GraphSink

  constructor(sink: GraphSink) {
    this.#sink = sink
  }

  node(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  dependents(uid: string, which: Dependents = "all"): Node[] {
    const all = [...(this.#owners.get(uid)?.dependents ?? [])]
    return which === "all" ? all : all.filter(({ unexamined }) => unexamined.length > 0)
  }

  hasDependents(uid: string): boolean {
    return (this.#owners.get(uid)?.dependents.size ?? 0) > 0
  }

  /** Some dependent blocks the foreground deletion of this owner. */
  isBlocked(uid: string): boolean {
    const dependents = this.#owners.get(uid)?.dependents.values()
    return dependents?.some((node) => isBlocking(node, uid)) === true
  }

  observe(resource: DiscoveredResource, object: KubeObject): void {
    const { uid = "", namespace, name = "", ownerReferences = [], finalizers = [], deletionTimestamp } = object.metadata
    const isBeingDeleted = deletionTimestamp !== undefined
    const deletesDependents = isBeingDeleted && finalizers.includes(foregroundFinalizer)
    const orphansDependents = isBeingDeleted && finalizers.includes(orphanFinalizer)
    const previous = this.#nodes.get(uid)
    if (ownerReferences.length === 0 && !deletesDependents && !orphansDependents) {
      if (previous !== undefined) this.#drop(previous)
      return
    }
    const node: Node = previous ?? {
      resource,
      namespace,
      name,
      uid,
      owners: [],
      unexamined: [],
      renamed: undefined,
      isBeingDeleted,
      deletesDependents: false,
      orphansDependents: false,
    }
    this.#nodes.set(uid, node)
    // Its own owners are not looked up any more.
    if (isBeingDeleted && !node.isBeingDeleted) for (const owner of node.owners) this.#askOthers(owner.uid)
    const began = (deletesDependents && !node.deletesDependents) || (orphansDependents && !node.orphansDependents)
    // The server of an aggregated API may have shown an object of its own with this uid before.
    Object.assign(node, { resource, namespace, name, isBeingDeleted, deletesDependents, orphansDependents })
    this.#setOwners(node, ownerReferences)
    if (!began) return
    this.#sink.enqueue(uid)
    if (deletesDependents) this.#enqueueDependents(uid)
  }

  /** The object was deleted: its dependents may have to be deleted, and an owner that waited for it may be removed. */
  gone(uid: string): void {
    const owner = this.#owners.get(uid)
    if (owner !== undefined) owner.isGone = true
    this.lost(uid)
  }

  /** The object was deleted, or may have been: its dependents look their owners up again. */
  lost(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node !== undefined) this.#drop(node)
    const owner = this.#owners.get(uid)
    if (owner === undefined) return
    owner.found.clear()
    this.#enqueueDependents(uid)
  }

  /** What is known about this reference. */
  known(reference: OwnerReference, namespace: string | undefined): Known {
    const owner = this.#owners.get(reference.uid)
    const place = coordinates(reference, namespace)
    if (owner?.isGone === true) return "gone"
    if (owner?.absent.has(place) === true) return "absent"
    return owner?.found.has(place) === true ? "found" : undefined
  }

  /** Whether the reference is known to name no object, even if its kind is not served any more. */
  isAbsent(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#owners.get(reference.uid)?.absent.has(coordinates(reference, namespace)) === true
  }

  /** Records the result of a lookup. A uid is never reused, so "absent" is final. */
  learn(reference: OwnerReference, namespace: string | undefined, exists: boolean): void {
    const owner = this.#owners.get(reference.uid)
    if (owner === undefined) return
    const place = coordinates(reference, namespace)
    owner.asked.delete(place)
    if (exists) owner.found.add(place)
    else if (!owner.absent.has(place)) {
      owner.absent.add(place)
      this.#enqueueDependents(reference.uid)
    }
  }

  /** The node's owners cannot be looked up from its namespace: each dependent has to find out for itself what is wrong with it. */
  leadsNowhere({ owners, namespace }: Node): void {
    for (const reference of owners) {
      // Only then others have relied on it.
      const wasAsked = this.#owners.get(reference.uid)?.asked.delete(coordinates(reference, namespace)) === true
      if (wasAsked) this.#enqueueDependents(reference.uid, "unexamined")
    }
  }

  /** The other namespace in which an owner was found; "" if nowhere; undefined if no search was made. */
  elsewhere(uid: string): string | undefined {
    return this.#owners.get(uid)?.elsewhere
  }

  learnElsewhere(uid: string, namespace: string): void {
    const owner = this.#owners.get(uid)
    if (owner !== undefined) owner.elsewhere = namespace
  }

  /** Deletions of this resource may have been missed: what is recorded about owners of this kind is discarded. */
  doubt(group: string, kind: string, seen: ReadonlySet<string>): void {
    for (const node of this.#nodes.values()) {
      if (node.resource.group === group && node.resource.kind === kind && !seen.has(node.uid)) this.lost(node.uid)
    }
    for (const [uid, owner] of this.#owners) {
      if (!seen.has(uid) && owner.found.values().some((place) => isPlaceOf(place, group, kind))) this.lost(uid)
    }
  }

  /** The kind has no objects any more: references to them lead nowhere. */
  undefined(resource: DiscoveredResource): void {
    const { group, kind, namespaced } = resource
    const apiVersion = printGroupVersion(resource)
    for (const node of this.#nodes.values()) {
      if (node.resource.group === group && node.resource.kind === kind) this.gone(node.uid)
    }
    for (const [uid, owner] of this.#owners) {
      if (owner.found.size === 0 && !owner.isGone) continue
      for (const dependent of owner.dependents) {
        // It could never refer to one, so it stays.
        if (namespaced && dependent.namespace === undefined) continue
        for (const reference of dependent.owners) {
          if (reference.uid !== uid || reference.kind !== kind || reference.apiVersion !== apiVersion) continue
          owner.absent.add(coordinates(reference, dependent.namespace))
          this.#sink.enqueue(dependent.uid)
        }
      }
    }
  }

  /** The kind is no longer followed: nothing is known of its objects. Nobody waits for them any more. */
  forget(group: string, kind: string): void {
    for (const node of this.#nodes.values()) {
      if (node.resource.group === group && node.resource.kind === kind) this.#drop(node)
    }
    for (const { found } of this.#owners.values())
      for (const place of found) if (isPlaceOf(place, group, kind)) found.delete(place)
  }

  #setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const before = node.owners
    node.owners = owners
    // An object may have thousands of owners.
    const byUid = new Map(owners.map((owner) => [owner.uid, owner]))
    for (const reference of before) {
      const now = byUid.get(reference.uid)
      if (now === undefined) this.#unlink(node, reference.uid)
      // It no longer blocks its owner, which may now be removable.
      if (reference.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true) this.#sink.enqueue(reference.uid)
    }
    const known = new Map(before.map((owner) => [owner.uid, owner]))
    const added = known.size === 0 ? owners : owners.filter(({ uid }) => !known.has(uid))
    if (added.length > 0) {
      node.unexamined = added
      if (node.isBeingDeleted) this.#sink.enqueue(node.uid)
    }
    const isRenamed = ({ uid }: OwnerReference): boolean => {
      const [was, is] = [known.get(uid), byUid.get(uid)]
      if (was === undefined || is === undefined) return false
      return node.renamed?.has(uid) === true || coordinates(was, node.namespace) !== coordinates(is, node.namespace)
    }
    const renamed = owners.filter(isRenamed).map(({ uid }) => uid)
    node.renamed = renamed.length === 0 ? undefined : new Set(renamed)
    for (const reference of owners) if (node.renamed?.has(reference.uid) !== true) this.#link(node, reference)
  }

  #link(node: Node, reference: OwnerReference): void {
    let owner = this.#owners.get(reference.uid)
    if (owner === undefined) {
      owner = { dependents: new Set(), found: new Set(), absent: new Set(), asked: new Set(), isGone: false }
      this.#owners.set(reference.uid, owner)
    }
    owner.dependents.add(node)
    const place = coordinates(reference, node.namespace)
    if (!owner.found.has(place) && this.#isThere(reference, node.namespace)) owner.found.add(place)
    if (owner.isGone || owner.absent.has(place)) this.#sink.enqueue(node.uid)
    else if (!owner.found.has(place) && !owner.asked.has(place) && !node.isBeingDeleted) {
      // One dependent does the lookup for all of them: its reconcile reads the owner.
      owner.asked.add(place)
      this.#sink.enqueue(node.uid)
    }
    // A dependent that appears while its owner waits for others is reconciled together with the owner, as upstream.
  }

  #isThere(reference: OwnerReference, namespace: string | undefined): boolean {
    const owner = this.#nodes.get(reference.uid)
    if (owner === undefined) return this.#sink.isThere(reference, namespace)
    const { resource, name } = owner
    const isNamed = name === reference.name && resource.kind === reference.kind
    const isOfVersion = printGroupVersion(resource) === reference.apiVersion
    return isNamed && isOfVersion && (owner.namespace === undefined || owner.namespace === namespace)
  }

  #unlink(node: Node, ownerUid: string): void {
    const owner = this.#owners.get(ownerUid)
    if (owner === undefined) return
    owner.dependents.delete(node)
    if (owner.dependents.size === 0) this.#owners.delete(ownerUid)
    else this.#askOthers(ownerUid)
  }

  /** The dependent that was doing the lookup may be gone: another one has to do it. */
  #askOthers(ownerUid: string): void {
    const owner = this.#owners.get(ownerUid)
    if (owner === undefined || owner.asked.size === 0) return
    owner.asked.clear()
    this.#enqueueDependents(ownerUid)
  }

  #enqueueDependents(uid: string, which: Dependents = "all"): void {
    const { size = 0 } = this.#owners.get(uid)?.dependents ?? {}
    if (size > mostAtOnce) this.#sink.enqueueDependents(uid, which)
    else for (const dependent of this.dependents(uid, which)) this.#sink.enqueue(dependent.uid)
  }

  #drop(node: Node): void {
    this.#nodes.delete(node.uid)
    for (const reference of node.owners) {
      this.#unlink(node, reference.uid)
      if (this.#nodes.get(reference.uid)?.deletesDependents === true) this.#enqueueWaiting(reference.uid, node)
    }
  }

  #enqueueWaiting(uid: string, gone: Node): void {
    // It is forgotten if its tenant falls asleep before a later round, and nothing else would enqueue it.
    if (isBlocking(gone, uid) && !this.isBlocked(uid)) this.#sink.enqueue(uid)
    else this.#sink.enqueueWaiting(uid, this.#owners.get(uid)?.dependents.size ?? 0)
  }
}
