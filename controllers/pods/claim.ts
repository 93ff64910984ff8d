// Determines which objects that match a selector belong to an owner: keeps the objects it controls, releases those that no longer
// match, and adopts matching orphans. Source: k8s.io/kubernetes/pkg/controller/controller_ref_manager.go.

import { matches, type Selector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject } from "../../apimachinery/object.ts"
import { hasReason, isNotFound, unexplained } from "../../apimachinery/status.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import { controllerReference, type OwnerKind } from "./pod-control.ts"

interface ClaimOptions<T extends KubeObject> {
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
  /** Objects that are being deleted are adopted, too. */
  adoptsLeaving?: boolean
}

/** What cannot be claimed does not keep the others from it; then the first error is thrown. */
export async function claim<T extends KubeObject>(options: ClaimOptions<T>): Promise<T[]> {
  const claimed: T[] = []
  const failures: unknown[] = []
  let checked: Promise<void> | undefined
  // The cache may be stale: an owner that is being deleted must not adopt, because its dependents would be deleted with it.
  const mayAdopt = (): Promise<void> => (checked ??= assertAlive(options))
  for (const object of options.candidates) {
    try {
      const own = await claimOne(options, object, mayAdopt)
      if (own !== undefined) claimed.push(own)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return claimed
}

/** undefined if it is not the owner's, or no longer. */
async function claimOne<T extends KubeObject>(
  options: ClaimOptions<T>,
  object: T,
  mayAdopt: () => Promise<void>,
): Promise<T | undefined> {
  const { owner, selector } = options
  const controller = controllerOf(object)
  if (controller !== undefined && controller.uid !== owner.metadata.uid) return undefined
  const wanted = matches(selector, object.metadata.labels ?? {}) && (options.accept?.(object) ?? true)
  if (controller !== undefined && wanted) return object
  if (owner.metadata.deletionTimestamp !== undefined) return undefined
  if (controller !== undefined) {
    await release(options, object)
    return undefined
  }
  const isLeaving = object.metadata.deletionTimestamp !== undefined
  if (!wanted || (isLeaving && options.adoptsLeaving !== true)) return undefined
  await mayAdopt()
  return adopt(options, object)
}

async function assertAlive<T extends KubeObject>({ client, ownerResource, owner }: ClaimOptions<T>): Promise<void> {
  const { namespace, name = "", uid } = owner.metadata
  const fresh = await client.get(ownerResource, namespace, name)
  if (fresh.metadata.uid !== uid) throw unexplained(`${name} is gone: its uid is ${fresh.metadata.uid}, not ${uid}`)
  if (fresh.metadata.deletionTimestamp !== undefined) throw unexplained(`${name} is being deleted`)
}

async function adopt<T extends KubeObject>(options: ClaimOptions<T>, object: T): Promise<T | undefined> {
  const { owner, ownerKind, finalizer } = options
  const others = (object.metadata.ownerReferences ?? []).filter((other) => other.uid !== owner.metadata.uid)
  const held = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer)
  // First, where upstream's strategic merge patches insert new items.
  const finalizers = finalizer === undefined ? held : [finalizer, ...held]
  try {
    return await patchOwners(options, object, [controllerReference(owner, ownerKind), ...others], finalizers)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function release<T extends KubeObject>(options: ClaimOptions<T>, object: T): Promise<void> {
  const { uid } = options.owner.metadata
  const owners = (object.metadata.ownerReferences ?? []).filter((other) => other.uid !== uid)
  const finalizers = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== options.finalizer)
  try {
    await patchOwners(options, object, owners, finalizers)
  } catch (error) {
    // Invalid: the uid differs.
    if (!hasReason(error, "NotFound", "Invalid")) throw error
  }
}

async function patchOwners<T extends KubeObject>(
  { client, resource, finalizer }: ClaimOptions<T>,
  { metadata }: T,
  ownerReferences: readonly object[],
  finalizers: readonly string[],
): Promise<T> {
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
  return client.patch<T>(resource, namespace, name, patch, { type: "merge" })
}
