// Writes of the garbage collector, with their preconditions: deletions, and removal of owners and finalizers.
// Source: k8s.io/kubernetes/pkg/controller/garbagecollector (operations.go, patch.go).

import { isDeepStrictEqual } from "node:util"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { hasReason, isConflict } from "../../apimachinery/status.ts"
import type { DeleteOptions, KubeClient } from "../../client/rest.ts"
import { isAbsence } from "./absence.ts"
import type { Node } from "./node.ts"

/**
 * The decision must still be valid: the owners may have changed meanwhile. Other changes do not matter. Returns false if the object
 * is gone.
 */
export async function remove(
  client: KubeClient,
  node: Node,
  { metadata: { resourceVersion, ownerReferences } }: KubeObject,
  propagationPolicy: NonNullable<DeleteOptions["propagationPolicy"]>,
): Promise<boolean> {
  const { resource, namespace, name, uid } = node
  const options = { uid, propagationPolicy }
  const exact = resourceVersion === undefined ? options : { ...options, resourceVersion }
  try {
    await client.delete(resource, namespace, name, exact).catch(async (error: unknown) => {
      if (!isConflict(error)) throw error
      const { metadata: now } = await client.get(resource, namespace, name, { metadataOnly: true })
      const hasSameOwners = now.uid === uid && isDeepStrictEqual(now.ownerReferences, ownerReferences)
      if (!hasSameOwners || now.resourceVersion === resourceVersion) throw error
      await client.delete(resource, namespace, name, options)
    })
  } catch (error) {
    if (!isAbsence(error, resource)) throw error
    return false
  }
  return true
}

/** `latest`: the object if it was already read; otherwise it is read here if needed. */
export async function removeOwners(
  client: KubeClient,
  node: Node,
  uids: readonly string[],
  latest?: KubeObject,
): Promise<void> {
  const { resource, namespace, name, uid } = node
  const ownerReferences = uids.map((owner) => ({ $patch: "delete", uid: owner }))
  const removed = new Set(uids)
  try {
    await patchItems(client, node, { ownerReferences, uid }, async () => {
      const { metadata } = latest ?? (await client.get(resource, namespace, name, { metadataOnly: true }))
      const rest = (metadata.ownerReferences ?? []).filter((owner) => !removed.has(owner.uid))
      return merged(metadata, { ownerReferences: rest.length === 0 ? null : rest })
    })
  } catch (error) {
    if (!isAbsence(error, resource)) throw error
  }
}

/** Covers all owners, as upstream does where it cannot patch lists item by item. */
export async function unblockOwners(client: KubeClient, node: Node, { metadata }: KubeObject): Promise<void> {
  const { ownerReferences = [] } = metadata
  const unblocked = (owner: OwnerReference): OwnerReference => ({ ...owner, blockOwnerDeletion: false })
  const blocking = ownerReferences.filter((owner) => owner.blockOwnerDeletion === true).map(unblocked)
  await patchItems(client, node, { ownerReferences: blocking, uid: node.uid }, async () =>
    merged(metadata, { ownerReferences: ownerReferences.map(unblocked) }),
  )
}

/** Patches list items one by one, so that other changes do not matter. Custom resources only support replacing whole lists. */
async function patchItems(
  client: KubeClient,
  { resource, namespace, name }: Node,
  items: object,
  whole: () => Promise<object>,
): Promise<void> {
  try {
    await client.patch(resource, namespace, name, { metadata: items }, { type: "strategic" })
  } catch (error) {
    if (!hasReason(error, "UnsupportedMediaType")) throw error
    await client.patch(resource, namespace, name, await whole(), { type: "merge" })
  }
}

/** Valid only for the revision that was read. */
function merged({ uid, resourceVersion }: KubeObject["metadata"], changes: object): object {
  return { metadata: { uid, resourceVersion, ...changes } }
}

export async function removeFinalizer(
  client: KubeClient,
  node: Node,
  latest: KubeObject,
  finalizer: string,
): Promise<void> {
  const finalizers = latest.metadata.finalizers ?? []
  if (!finalizers.includes(finalizer)) return
  const rest = finalizers.filter((other) => other !== finalizer)
  const changes = merged(latest.metadata, { finalizers: rest.length === 0 ? null : rest })
  try {
    await client.patch(node.resource, node.namespace, node.name, changes, { type: "merge" })
  } catch (error) {
    if (!isAbsence(error, node.resource)) throw error
  }
}
