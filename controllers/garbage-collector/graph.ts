// Who owns whom in one tenant. Holds only what is needed to decide: objects that have owners, and objects on their way out
// whose dependents must go or be let go first. Never whole objects; an object without owners costs nothing.

import {
  parseGroupVersion,
  printGroupVersion,
  type KubeObject,
  type OwnerReference,
} from "../../apimachinery/object.ts"
import type { DiscoveredResource } from "../../client/rest.ts"

export const foregroundFinalizer = "foregroundDeletion"
export const orphanFinalizer = "orphan"

export interface Node {
  resource: DiscoveredResource
  namespace: string | undefined
  name: string
  uid: string
  owners: readonly OwnerReference[]
  /** It has a deletionTimestamp. */
  isBeingDeleted: boolean
  /** Foreground deletion: it goes when those dependents that block it are gone. */
  deletesDependents: boolean
  /** It goes when its dependents no longer name it. */
  orphansDependents: boolean
}

interface Owner {
  dependents: Set<Node>
  /** References by coordinates that were looked up. The same uid under other coordinates is another reference. */
  found: Set<string>
  absent: Set<string>
  /** Being looked up for one of the dependents. */
  asked: Set<string>
  /** It was there: a uid never comes back. */
  isGone: boolean
  /** Where it was found when it was looked for everywhere; "": nowhere. */
  elsewhere?: string
}

/** What a reference names, from where the dependent is. */
function coordinates(reference: OwnerReference, namespace: string | undefined): string {
  return `${reference.apiVersion}/${reference.kind}/${namespace ?? ""}/${reference.name}`
}

function isOfKind({ apiVersion, kind }: OwnerReference, ofGroup: string, ofKind: string): boolean {
  return kind === ofKind && parseGroupVersion(apiVersion).group === ofGroup
}

/** absent: it leads nowhere; gone: there was an object of this uid, wherever; undefined: it must be looked up. */
export type Known = "found" | "absent" | "gone" | undefined

export interface GraphSink {
  /** The object of this uid is to be looked at now. */
  attend(uid: string): void
  /** The owner is known to be there, and {@link Graph.gone} will be called when it is not any more. */
  isThere(owner: OwnerReference, namespace: string | undefined): boolean
}

export class Graph {
  readonly #nodes = new Map<string, Node>()
  /** By uid of the owner. */
  readonly #owners = new Map<string, Owner>()
  readonly #sink: GraphSink

  constructor(sink: GraphSink) {
    this.#sink = sink
  }

  get size(): number {
    return this.#nodes.size
  }

  node(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  dependents(uid: string): Node[] {
    return [...(this.#owners.get(uid)?.dependents ?? [])]
  }

  hasDependents(uid: string): boolean {
    return (this.#owners.get(uid)?.dependents.size ?? 0) > 0
  }

  /** Those an owner in foreground deletion waits for. */
  blocking(uid: string): Node[] {
    return this.dependents(uid).filter((node) =>
      node.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
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
      isBeingDeleted,
      deletesDependents: false,
      orphansDependents: false,
    }
    this.#nodes.set(uid, node)
    const began = (deletesDependents && !node.deletesDependents) || (orphansDependents && !node.orphansDependents)
    Object.assign(node, { isBeingDeleted, deletesDependents, orphansDependents })
    this.#setOwners(node, ownerReferences)
    if (!began) return
    this.#sink.attend(uid)
    if (deletesDependents) for (const dependent of this.dependents(uid)) this.#sink.attend(dependent.uid)
  }

  /** The object is gone: its dependents may have to follow, and an owner that waited for it may go. */
  gone(uid: string): void {
    const owner = this.#owners.get(uid)
    if (owner !== undefined) owner.isGone = true
    this.#lost(uid)
  }

  /** It is gone, or may be. */
  #lost(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node !== undefined) this.#drop(node)
    const owner = this.#owners.get(uid)
    if (owner === undefined) return
    owner.found.clear()
    for (const dependent of owner.dependents) this.#sink.attend(dependent.uid)
  }

  /** What is known of this reference. */
  known(reference: OwnerReference, namespace: string | undefined): Known {
    const owner = this.#owners.get(reference.uid)
    const place = coordinates(reference, namespace)
    if (owner?.isGone === true) return "gone"
    if (owner?.absent.has(place) === true) return "absent"
    return owner?.found.has(place) === true ? "found" : undefined
  }

  /** It is known to lead nowhere, also when nobody knows its kind any more. */
  isAbsent(reference: OwnerReference, namespace: string | undefined): boolean {
    return this.#owners.get(reference.uid)?.absent.has(coordinates(reference, namespace)) === true
  }

  /** The answer of a look-up. A uid never comes back, so "absent" is for good. */
  learn(reference: OwnerReference, namespace: string | undefined, exists: boolean): void {
    const owner = this.#owners.get(reference.uid)
    if (owner === undefined) return
    const place = coordinates(reference, namespace)
    owner.asked.delete(place)
    if (exists) owner.found.add(place)
    else if (!owner.absent.has(place)) {
      owner.absent.add(place)
      for (const dependent of owner.dependents) this.#sink.attend(dependent.uid)
    }
  }

  /** The namespace an owner was found in that is not where its dependents are; "": nowhere; undefined: nobody has looked. */
  elsewhere(uid: string): string | undefined {
    return this.#owners.get(uid)?.elsewhere
  }

  learnElsewhere(uid: string, namespace: string): void {
    const owner = this.#owners.get(uid)
    if (owner !== undefined) owner.elsewhere = namespace
  }

  /** Deletions of this resource may have been missed: what is known of owners of that kind is not known any more. */
  doubt(group: string, kind: string, seen: ReadonlySet<string>): void {
    for (const node of this.#nodes.values()) {
      if (node.resource.group === group && node.resource.kind === kind && !seen.has(node.uid)) this.#lost(node.uid)
    }
    for (const [uid, owner] of this.#owners) {
      if (owner.found.size > 0 && this.#isOfKind(uid, owner, group, kind) && !seen.has(uid)) this.#lost(uid)
    }
  }

  /** There are no objects of this kind any more: references to what was there lead nowhere. */
  undefined(resource: DiscoveredResource): void {
    const { group, kind } = resource
    const apiVersion = printGroupVersion(resource)
    for (const node of this.#nodes.values()) {
      if (node.resource.group === group && node.resource.kind === kind) this.gone(node.uid)
    }
    for (const [uid, owner] of this.#owners) {
      if (owner.found.size === 0 && !owner.isGone) continue
      for (const dependent of owner.dependents) {
        for (const reference of dependent.owners) {
          if (reference.uid !== uid || reference.kind !== kind || reference.apiVersion !== apiVersion) continue
          owner.absent.add(coordinates(reference, dependent.namespace))
          this.#sink.attend(dependent.uid)
        }
      }
    }
  }

  #isOfKind(uid: string, owner: Owner, group: string, kind: string): boolean {
    const [dependent] = owner.dependents
    const reference = dependent?.owners.find((candidate) => candidate.uid === uid)
    return reference !== undefined && isOfKind(reference, group, kind)
  }

  #setOwners(node: Node, owners: readonly OwnerReference[]): void {
    const before = node.owners
    node.owners = owners
    for (const reference of before) {
      const now = owners.find((owner) => owner.uid === reference.uid)
      if (now === undefined) this.#unlink(node, reference.uid)
      // It blocks no longer: the owner may be able to go.
      if (reference.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true) this.#sink.attend(reference.uid)
    }
    for (const reference of owners) this.#link(node, reference)
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
    if (owner.isGone || owner.absent.has(place)) this.#sink.attend(node.uid)
    else if (!owner.found.has(place) && !owner.asked.has(place)) {
      // One dependent asks for all: its turn looks the owner up.
      owner.asked.add(place)
      this.#sink.attend(node.uid)
    }
    // Who comes while its owner waits for others is looked at when the owner is, as upstream has it.
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
    // The one that asked is gone: another must ask.
    else if (owner.asked.size > 0) {
      owner.asked.clear()
      for (const dependent of owner.dependents) this.#sink.attend(dependent.uid)
    }
  }

  #drop(node: Node): void {
    this.#nodes.delete(node.uid)
    for (const reference of node.owners) {
      this.#unlink(node, reference.uid)
      this.#attendIfDeleting(reference.uid)
    }
  }

  #attendIfDeleting(uid: string): void {
    if (this.#nodes.get(uid)?.deletesDependents === true) this.#sink.attend(uid)
  }
}
