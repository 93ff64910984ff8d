// The syncer's writes. Each change contains the uid of its object as a precondition, so an outdated cache can delay a change but never affect
// another object.

import type { KubeObject } from "../apimachinery/object.ts"
import { isConflict, isNotFound, StatusError } from "../apimachinery/status.ts"
import type { DeleteOptions, KubeClient, PatchOptions } from "../client/rest.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import type { Place } from "./conversion/super-object.ts"
import { inTenant } from "./failures.ts"
import type { Patch, ResourceSync } from "./resources/resource-sync.ts"

/** Of a write that asks for what super cannot give. */
export interface FallingBack {
  /** Milliseconds until the same is to be asked for again, of what may be over in a moment; 0, as by default: it is given up. */
  waitMs?(): number
  /** Called with what super has said if the write was made without it. */
  fellBack(error: StatusError): void
}

/** The write is to be decided upon again after that time: what super refuses now it may give then. */
export class LaterError extends Error {
  readonly afterMs: number

  constructor(afterMs: number, cause?: StatusError) {
    super(cause?.message ?? "a Service of the tenant waits for its address", { cause })
    this.name = "LaterError"
    this.afterMs = afterMs
  }
}

/** Creates the copy of `object`. Throws LaterError. */
export async function createCopy(
  superClient: KubeClient,
  sync: ResourceSync,
  object: KubeObject,
  desired: KubeObject,
  falling: FallingBack,
): Promise<void> {
  const made = await orFallBack(sync, desired, undefined, (one) => superClient.create(sync.resource, one), falling)
  try {
    await noteAdmission(superClient, sync, object, made)
  } catch {
    // The copy exists, and its event is decided upon with what it still lacks. A failure of that is reported as one of an update.
  }
}

/** Not at once. Throws LaterError. */
async function orFallBack<T extends object>(
  sync: ResourceSync,
  desired: T,
  superObject: KubeObject | undefined,
  write: (desired: T) => Promise<KubeObject>,
  falling: FallingBack,
): Promise<KubeObject> {
  try {
    return await write(desired)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const next = sync.fallback?.(desired as unknown as KubeObject, error, superObject)
    if (next === undefined) throw error
    const waitMs = sync.passes?.(error) === true ? (falling.waitMs?.() ?? 0) : 0
    if (waitMs > 0) throw new LaterError(waitMs, error)
    const made = await orFallBack(sync, next as unknown as T, superObject, write, falling)
    falling.fellBack(error)
    return made
  }
}

async function noteAdmission(
  superClient: KubeClient,
  sync: ResourceSync,
  object: KubeObject,
  made: KubeObject,
  step?: Patch,
): Promise<void> {
  const note = sync.admitted?.(object, made, step)
  if (note === undefined) return
  const { namespace, name = "", uid } = made.metadata
  await superClient.patch(sync.resource, namespace, name, withMetadata(note, { uid }), patchOptions(note))
}

/** `changed` is called when that is done, whatever becomes of the record of what admission has made of it. */
export async function patchSuper(
  superClient: KubeClient,
  sync: ResourceSync,
  { namespace, name }: Place,
  { object, superObject }: { object: KubeObject | undefined; superObject: KubeObject | undefined },
  step: Patch,
  changed: () => void,
  falling: FallingBack,
): Promise<void> {
  const { uid, resourceVersion } = superObject?.metadata ?? {}
  // Lists are replaced completely, so they must not have changed since they were read. What is nobody's yet may have become another object's copy.
  const isNobodys = superObject !== undefined && recordedOwner(superObject)?.uid === undefined
  const precondition = "spec" in step.patch || isNobodys ? { uid, resourceVersion } : { uid }
  const patch = withMetadata(step, precondition)
  const write = (one: object): Promise<KubeObject> =>
    superClient.patch(sync.resource, namespace, name, one, patchOptions(step))
  const made = await orFallBack(sync, patch, superObject, write, falling)
  changed()
  if (object !== undefined) await noteAdmission(superClient, sync, object, made, step)
}

export async function patchTenant(
  client: KubeClient,
  { resource }: ResourceSync,
  { metadata: { namespace, name = "", uid } }: KubeObject,
  step: Patch,
): Promise<void> {
  await inTenant(client.patch(resource, namespace, name, withMetadata(step, { uid }), patchOptions(step)))
}

/** Binds a pod of the tenant to its node. */
export async function bind(
  client: KubeClient,
  { resource }: ResourceSync,
  { metadata: { namespace, name = "", uid } }: KubeObject,
  node: string,
): Promise<void> {
  const binding: KubeObject = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...(uid === undefined ? {} : { uid }) },
    target: { apiVersion: "v1", kind: "Node", name: node },
  }
  await inTenant(client.create(resource, binding, { subresource: "binding" }))
}

/** false: the object was deleted, replaced by another one, or changed (by `options`): that event enqueues the key again. */
export async function deleteSeen(
  client: KubeClient,
  { resource }: ResourceSync,
  { namespace, name }: Place,
  { metadata: { uid } }: KubeObject,
  options: DeleteOptions,
): Promise<boolean> {
  try {
    await client.delete(resource, namespace, name, { ...(uid === undefined ? {} : { uid }), ...options })
    return true
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
    return false
  }
}

function withMetadata({ patch }: Patch, precondition: object): Record<string, unknown> {
  return { ...patch, metadata: { ...(patch["metadata"] as object | undefined), ...precondition } }
}

function patchOptions({ subresource, strategic = false }: Patch): PatchOptions {
  return {
    type: strategic ? "strategic" : "merge",
    fieldManager: "polyplane-syncer",
    ...(subresource === undefined ? {} : { subresource }),
  }
}
