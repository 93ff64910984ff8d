// Determines which objects that match a selector belong to an owner: keeps the objects it controls, releases those that no longer
// match, and adopts matching orphans. Source: k8s.io/kubernetes/pkg/controller/controller_ref_manager.go.

import { matches, type Selector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject } from "../../apimachinery/object.ts"
import { hasReason, isNotFound } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { controllerReference, type OwnerKind } from "./pod-control.ts"

export interface ClaimOptions<T extends KubeObject> {
  client: KubeClient
  /** The resource of the claimed objects. */
  resource: Resource
  owner: KubeObject
  ownerKind: OwnerKind
  ownerResource: Resource
  selector: Selector
  /** The objects in the owner's namespace that it controls or that have no controller. */
  candidates: readonly T[]
  /** Added to adopted objects and removed from released ones. */
  finalizer?: string
  /** A condition in addition to the selector; objects that do not meet it are released and not adopted. */
  accept?(object: T): boolean
}

export async function claim<T extends KubeObject>(options: ClaimOptions<T>): Promise<T[]> {
  const { owner, selector } = options
  const claimed: T[] = []
  let ownerChecked = false
  for (const object of options.candidates) {
    const controller = controllerOf(object)
    if (controller !== undefined && controller.uid !== owner.metadata.uid) continue
    const wanted = matches(selector, object.metadata.labels ?? {}) && (options.accept?.(object) ?? true)
    if (controller !== undefined && wanted) {
      claimed.push(object)
      continue
    }
    if (owner.metadata.deletionTimestamp !== undefined) continue
    if (controller !== undefined) {
      await release(options, object)
      continue
    }
    if (!wanted || object.metadata.deletionTimestamp !== undefined) continue
    // The cache may be stale: an owner that is being deleted must not adopt, because its dependents would be deleted with it.
    if (!ownerChecked && !(await isOwnerAlive(options))) return claimed
    ownerChecked = true
    const adopted = await adopt(options, object)
    if (adopted !== undefined) claimed.push(adopted)
  }
  return claimed
}

async function isOwnerAlive<T extends KubeObject>(options: ClaimOptions<T>): Promise<boolean> {
  const { client, ownerResource, owner } = options
  try {
    const fresh = await client.get(ownerResource, owner.metadata.namespace, owner.metadata.name ?? "")
    return fresh.metadata.uid === owner.metadata.uid && fresh.metadata.deletionTimestamp === undefined
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function adopt<T extends KubeObject>(options: ClaimOptions<T>, object: T): Promise<T | undefined> {
  const { owner, ownerKind, finalizer } = options
  const others = (object.metadata.ownerReferences ?? []).filter((other) => other.uid !== owner.metadata.uid)
  const held = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer)
  // First, where upstream's strategic merge patches insert new items.
  const finalizers = finalizer === undefined ? held : [finalizer, ...held]
  return patchOwners(options, object, [controllerReference(owner, ownerKind), ...others], finalizers)
}

async function release<T extends KubeObject>(options: ClaimOptions<T>, object: T): Promise<void> {
  const { uid } = options.owner.metadata
  const owners = (object.metadata.ownerReferences ?? []).filter((other) => other.uid !== uid)
  const finalizers = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== options.finalizer)
  await patchOwners(options, object, owners, finalizers)
}

/** undefined if the object was deleted or recreated; its watch event follows. */
async function patchOwners<T extends KubeObject>(
  { client, resource, finalizer }: ClaimOptions<T>,
  { metadata }: T,
  ownerReferences: readonly object[],
  finalizers: readonly string[],
): Promise<T | undefined> {
  const { namespace, name = "", uid, resourceVersion } = metadata
  const orNull = <Item>(list: readonly Item[]): readonly Item[] | null => (list.length === 0 ? null : list)
  const patch = {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: orNull(ownerReferences),
      ...(finalizer === undefined ? {} : { finalizers: orNull(finalizers) }),
    },
  }
  try {
    return await client.patch<T>(resource, namespace, name, patch, { type: "merge" })
  } catch (error) {
    // Invalid: the uid differs.
    if (hasReason(error, "NotFound", "Invalid")) return undefined
    throw error
  }
}
