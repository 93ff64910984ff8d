// What a delete does to an object: removes it, marks it, or nothing because it is under way. A pure step; store.ts writes.
// Source: k8s.io/apiserver/pkg/registry/rest/delete.go and registry/generic/registry/store.go.

import { type KubeObject, type ObjectMeta, timestamp } from "../../apimachinery/object.ts"
import { conflict, invalid } from "../../apimachinery/status.ts"
import { type FieldError, FieldPath, invalidValue, notSupported } from "../../apimachinery/field-errors.ts"
import { kindOf, uidConflict } from "./checks.ts"
import type { DeleteRequest, ResourceDefinition } from "./rest.ts"

const orphan = "orphan"
const foreground = "foregroundDeletion"

export type DeletionStep =
  /** `object` is what it was last. `marked`: with marks of its deletion, which those who watch it see before it is gone. */
  | { step: "remove"; object: KubeObject; marked: boolean; graceSeconds: number | undefined }
  /** The object stays, marked; `object` is the caller's copy, changed. `graceSeconds`, here and above: what is granted of those asked. */
  | { step: "mark"; object: KubeObject; graceSeconds: number | undefined }
  /** It is being deleted already, and no sooner than asked. */
  | { step: "wait" }

/** `copy` is a copy of the object as it is: it is changed and handed back. */
export function nextDeletionStep(
  definition: ResourceDefinition,
  copy: KubeObject,
  request: DeleteRequest,
  now: number,
): DeletionStep {
  checkPreconditions(definition, copy, request)
  const { grace, graceSeconds } = applyGrace(definition, copy, request.gracePeriodSeconds, now)
  if (grace === "pending") return { step: "wait" }
  const { metadata } = copy
  const finalizers = finalizersFor(definition, copy, request)
  const held = finalizers.length > 0 || isHeldBack(definition, copy)
  // What goes at once is answered as it was stored.
  if (!held && grace === "none") return { step: "remove", object: copy, marked: false, graceSeconds }
  if (finalizers.length > 0) metadata.finalizers = finalizers
  else delete metadata.finalizers
  const isLater = grace === "graceful" && (held || (metadata.deletionGracePeriodSeconds ?? 0) > 0)
  if (!held && !isLater) return { step: "remove", object: copy, marked: true, graceSeconds }
  if (!isLater) markAsDeleting(definition, copy, now)
  definition.strategy.markDeleted?.(copy)
  return { step: "mark", object: copy, graceSeconds }
}

/** An update has left an object that is being deleted with nothing that holds it. */
export function isFinished(definition: ResourceDefinition, object: KubeObject, current: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = current.metadata
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds > 0) return false
  return (object.metadata.finalizers ?? []).length === 0 && !isHeldBack(definition, object)
}

/** As clients write them. */
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
  if (dryRun.some((value) => value !== "All")) errors.push(notSupported(FieldPath.root("dryRun"), dryRun, ["All"]))
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push(invalidValue(path, propagationPolicy, "orphanDependents and deletionPropagation cannot be both set"))
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported(path, propagationPolicy, [...policies, "nil"]))
  }
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
  if (isNamespace(definition)) return checkNamespace(definition, metadata, request)
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

/** Whose deletion is upstream's own code, with words of its own. */
const isNamespace = ({ group, kind }: ResourceDefinition): boolean => group === "" && kind === "Namespace"

function checkNamespace(definition: ResourceDefinition, metadata: ObjectMeta, { preconditions }: DeleteRequest): void {
  const { uid, resourceVersion } = preconditions ?? {}
  const { name = "", uid: own = "", resourceVersion: current = "" } = metadata
  if (uid !== undefined && uid !== own) throw uidConflict(definition, name, uid, own)
  if (resourceVersion !== undefined && resourceVersion !== current) {
    const detail = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${current}`
    throw conflict(definition, name, detail)
  }
}

interface Grace {
  /** "none": the kind knows no grace, or none is left. */
  grace: "none" | "graceful" | "pending"
  graceSeconds: number | undefined
}

/** Sets the deletion's time when it is graceful. */
function applyGrace(
  { strategy }: ResourceDefinition,
  object: KubeObject,
  requested: number | undefined,
  now: number,
): Grace {
  // Negative values are taken for one second.
  const asked = requested === undefined || requested >= 0 ? requested : 1
  const { metadata } = object
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

/** Upstream counts in nanoseconds of 64 bits, which so many seconds overflow. */
function milliseconds(seconds: number | bigint): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n)
}

function markAsDeleting({ strategy }: ResourceDefinition, object: KubeObject, now: number): void {
  const { metadata } = object
  const at = metadata.deletionTimestamp
  // Kinds that are held back by what is in them delete in their own way, which counts no change.
  if (at === undefined && strategy.heldBack === undefined) bumpGeneration(object)
  if (at === undefined || Date.parse(at) > now) metadata.deletionTimestamp = timestamp(new Date(now))
  // Kinds that are held back by what is in them (namespaces) show no grace.
  if (strategy.heldBack === undefined) metadata.deletionGracePeriodSeconds = 0
}

function bumpGeneration({ metadata }: KubeObject): void {
  if (metadata.generation !== undefined && metadata.generation > 0) metadata.generation++
}

function isHeldBack({ strategy }: ResourceDefinition, object: KubeObject): boolean {
  return strategy.heldBack?.(object) ?? false
}

/** Which finalizers the object has when its dependents are cared for as asked. */
function finalizersFor(definition: ResourceDefinition, object: KubeObject, request: DeleteRequest): string[] {
  const present = object.metadata.finalizers ?? []
  const others = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground)
  const wanted = propagationOf(definition, present, request)
  const finalizers = wanted === undefined ? others : [...others, wanted]
  // Where these are the ones it has, they stay in their order.
  const isSame = present.every((one) => finalizers.includes(one)) && finalizers.every((one) => present.includes(one))
  return isSame ? [...present] : finalizers
}

function propagationOf(
  definition: ResourceDefinition,
  present: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteRequest,
): string | undefined {
  const { defaultPropagation } = definition.strategy
  if (defaultPropagation === "None") return undefined
  if (orphanDependents === false) return isNamespace(definition) ? foreground : undefined
  if (orphanDependents === true) return orphan
  if (propagationPolicy === "Orphan") return orphan
  if (propagationPolicy === "Foreground") return foreground
  if (propagationPolicy === "Background") return undefined
  const kept = present.find((finalizer) => finalizer === orphan || finalizer === foreground)
  return kept ?? (defaultPropagation === "Orphan" ? orphan : undefined)
}
