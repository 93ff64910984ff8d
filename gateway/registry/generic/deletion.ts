// Determines the effect of a delete on an object: it is removed, marked, or unchanged because deletion is in progress. Pure;
// delete-attempts.ts performs the writes. Source: k8s.io/apiserver/pkg/registry/rest/delete.go and registry/generic/registry/store.go.

import { type KubeObject, type ObjectMeta, timestamp } from "../../../apimachinery/object.ts"
import { conflict, invalid } from "../../../apimachinery/status.ts"
import { type FieldError, FieldPath, invalidValue, notSupported } from "../../../apimachinery/field-errors.ts"
import { kindOf, revisionConflict, uidConflict } from "./checks.ts"
import type { DeleteRequest, ResourceDefinition } from "../rest.ts"

const orphan = "orphan"
const foreground = "foregroundDeletion"

type DeletionStep =
  /**
   * `object` is the last state. `marked`: it is marked for deletion, which watches see before it is removed. `released`: the
   * request takes its last finalizer, without marking it.
   */
  | { step: "remove"; object: KubeObject; marked: boolean; released: boolean; graceSeconds: number | undefined }
  /**
   * The object remains, marked; `object` is the modified copy of the caller. `graceSeconds`, here and above: the granted part of
   * the requested grace period.
   */
  | { step: "mark"; object: KubeObject; graceSeconds: number | undefined }
  /** Deletion is already in progress and would not end sooner. */
  | { step: "wait" }

/** `copy` is a mutable copy of the current object, which is modified and returned. */
export function nextDeletionStep(
  definition: ResourceDefinition,
  copy: KubeObject,
  request: DeleteRequest,
  now: number,
): DeletionStep {
  checkPreconditions(definition, copy, request)
  const isFirst = copy.metadata.deletionTimestamp === undefined
  // A namespace whose contents are being deleted is not touched again.
  if (isNamespace(definition) && isHeldBack(definition, copy) && !isFirst) return { step: "wait" }
  const { grace, graceSeconds } = applyGrace(definition, copy, request.gracePeriodSeconds, now)
  if (grace === "pending") return { step: "wait" }
  const { metadata } = copy
  const finalizers = finalizersFor(definition, copy, request, isFirst)
  // A kind whose contents delay deletion is at first only marked, even if nothing delays it any more.
  const isMarkedFirst = isFirst && hasOwnCode(definition)
  const held = finalizers.length > 0 || isMarkedFirst || isHeldBack(definition, copy)
  // An object that is removed at once is returned as it was stored.
  if (!held && grace === "none") {
    const released = (metadata.finalizers ?? []).length > 0
    return { step: "remove", object: copy, marked: false, released, graceSeconds }
  }
  if (finalizers.length > 0) metadata.finalizers = finalizers
  else delete metadata.finalizers
  const isLater = grace === "graceful" && (held || (metadata.deletionGracePeriodSeconds ?? 0) > 0)
  if (!held && !isLater) return { step: "remove", object: copy, marked: true, released: false, graceSeconds }
  if (!isLater) markAsDeleting(definition, copy, now)
  if (isFirst) definition.strategy.markDeleted?.(copy)
  return { step: "mark", object: copy, graceSeconds }
}

/** Whether an update has removed the last reason for an object in deletion to remain. */
export function endsDeletion(definition: ResourceDefinition, object: KubeObject, current: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = current.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds !== 0) return false
  return (object.metadata.finalizers ?? []).length === 0 && !isHeldBack(definition, object)
}

/** The wire format. */
export interface DeleteOptions {
  dryRun?: readonly string[]
  gracePeriodSeconds?: number
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
}

const policies = ["Foreground", "Background", "Orphan"]

/** Throws Invalid. Source: ValidateDeleteOptions upstream. */
export function deleteRequestOf(options: DeleteOptions): DeleteRequest {
  const { dryRun = [], gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = options
  const errors: FieldError[] = []
  const path = FieldPath.root("propagationPolicy")
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(invalidValue(path, propagationPolicy, "orphanDependents and deletionPropagation cannot be both set"))
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported(path, propagationPolicy, [...policies, "nil"]))
  }
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported(FieldPath.root("dryRun"), dryRun, ["All"]))
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors)
  return {
    dryRun: dryRun.length > 0,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  }
}

export function checkPreconditions(definition: ResourceDefinition, object: KubeObject, request: DeleteRequest): void {
  const { uid, resourceVersion } = request.preconditions ?? {}
  const { metadata } = object
  const { group, kind } = kindOf(definition)
  if (hasOwnCode(definition)) return checkOwn(definition, metadata, request)
  const fail = (detail: string) => conflict({ group, resource: kind }, metadata.name ?? "", detail)
  if (uid !== undefined && uid !== metadata.uid) {
    throw fail(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw fail(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
  }
}

/** Kinds whose contents delay deletion have their own code for the first deletion upstream, with its own messages. */
const hasOwnCode = ({ strategy }: ResourceDefinition): boolean => strategy.heldBack !== undefined

const isNamespace = ({ group, kind }: ResourceDefinition): boolean => group === "" && kind === "Namespace"

function checkOwn(definition: ResourceDefinition, metadata: ObjectMeta, { preconditions }: DeleteRequest): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const { name = "", uid: own = "", resourceVersion: current = "" } = metadata
  if (uid !== undefined && uid !== own) throw uidConflict(definition, name, uid, own)
  if (resourceVersion !== undefined && resourceVersion !== current)
    throw revisionConflict(definition, name, resourceVersion, current)
}

interface Grace {
  /** "none": the kind has no grace period, or it is over. */
  grace: "none" | "graceful" | "pending"
  graceSeconds: number | undefined
}

/** Sets the deletion timestamp if deletion is graceful. */
function applyGrace(
  { strategy }: ResourceDefinition,
  object: KubeObject,
  requested: number | undefined,
  now: number,
): Grace {
  // Negative values count as one second; an applied object may have them, too.
  const asked = requested === undefined || requested >= 0 ? requested : 1
  const { metadata } = object
  if ((metadata.deletionGracePeriodSeconds ?? 0) < 0) metadata.deletionGracePeriodSeconds = 1
  const none: Grace = { grace: "none", graceSeconds: asked }
  if (strategy.graceSeconds === undefined) return none
  if (metadata.deletionTimestamp !== undefined) {
    const granted = metadata.deletionGracePeriodSeconds ?? 0
    if (granted === 0) return none
    if (asked === undefined || asked >= granted) return { grace: "pending", graceSeconds: asked }
    const at = Date.parse(metadata.deletionTimestamp) - milliseconds(granted) + milliseconds(asked)
    const isOver = at < now
    metadata.deletionTimestamp = timestamp(new Date(isOver ? now : at))
    metadata.deletionGracePeriodSeconds = isOver && asked > 0 ? 1 : asked
    return { grace: "graceful", graceSeconds: asked }
  }
  const seconds = strategy.graceSeconds(object, asked)
  if (seconds === undefined) return none
  metadata.deletionTimestamp = timestamp(new Date(now + milliseconds(seconds)))
  metadata.deletionGracePeriodSeconds = seconds
  bumpGeneration(object)
  return { grace: "graceful", graceSeconds: seconds }
}

/** Upstream counts nanoseconds in 64 bits; large numbers of seconds overflow. */
function milliseconds(seconds: number | bigint): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}

function markAsDeleting(definition: ResourceDefinition, object: KubeObject, now: number): void {
  const { metadata } = object
  const at = metadata.deletionTimestamp
  const isOwn = at === undefined && hasOwnCode(definition)
  if (at === undefined && !isOwn) bumpGeneration(object)
  if (at === undefined || Date.parse(at) > now) metadata.deletionTimestamp = timestamp(new Date(now))
  if (!isOwn) metadata.deletionGracePeriodSeconds = 0
}

function bumpGeneration({ metadata }: KubeObject): void {
  if (metadata.generation !== undefined && metadata.generation > 0) metadata.generation++
}

function isHeldBack({ strategy }: ResourceDefinition, object: KubeObject): boolean {
  return strategy.heldBack?.(object) ?? false
}

/** The finalizers of the object under the requested propagation policy. */
function finalizersFor(
  definition: ResourceDefinition,
  object: KubeObject,
  request: DeleteRequest,
  isFirst: boolean,
): string[] {
  const present = object.metadata.finalizers ?? []
  const isOwn = isFirst && hasOwnCode(definition)
  if (isOwn && !isNamespace(definition)) return [...present] // whatever the policy is, its objects are deleted
  const listed = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground)
  const others = isOwn ? [...new Set(listed)] : listed // there upstream has a set of them
  const wanted = propagationOf(definition, present, request, isOwn)
  const finalizers = wanted === undefined ? others : [...others, wanted]
  // If the set is unchanged, the order is kept.
  const [before, after] = [new Set(present), new Set(finalizers)]
  const isSame = before.size === after.size && finalizers.every((one) => before.has(one))
  return isSame ? [...present] : finalizers
}

function propagationOf(
  definition: ResourceDefinition,
  present: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteRequest,
  isOwn: boolean,
): string | undefined {
  const { defaultPropagation } = definition.strategy
  if (defaultPropagation === "None") return undefined
  if (orphanDependents === false) return isOwn ? foreground : undefined
  if (orphanDependents === true) return orphan
  if (propagationPolicy === "Orphan") return orphan
  if (propagationPolicy === "Foreground") return foreground
  if (propagationPolicy === "Background") return undefined
  const kept = present.find((finalizer) => finalizer === orphan || finalizer === foreground)
  return kept ?? (defaultPropagation === "Orphan" ? orphan : undefined)
}
