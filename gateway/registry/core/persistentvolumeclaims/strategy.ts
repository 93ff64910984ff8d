// PersistentVolumeClaims. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { FieldPath, type FieldError, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { PersistentVolumeClaim } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { difference, immutableField, semanticEqual } from "../../validation/equality.ts"
import { validateClaimStatus } from "./status.ts"
import { claimWarnings } from "./warnings.ts"
import { type ClaimSpec, validatePersistentVolumeClaimSpec } from "./validate.ts"

const path = FieldPath.root("spec")

const strategy: Strategy<PersistentVolumeClaim> = {
  generation: false,
  lacksDefault: () => true, // its phase

  dropDisabled({ spec }, current) {
    // Sources in other namespaces are off in a server as it comes; of a claim that has a source they are looked at.
    if (spec?.dataSourceRef?.namespace && current?.spec?.dataSourceRef === undefined) delete spec.dataSourceRef
  },

  default(claim) {
    claim.spec ??= {}
    claim.spec.volumeMode ??= "Filesystem"
    claim.spec.resources ??= {}
    claim.status ??= {}
    claim.status.phase = claim.status.phase || "Pending"
  },

  prepareForCreate(_ctx, claim) {
    claim.status = { phase: "Pending" }
    if (claim.spec !== undefined) normalizeSources(claim.spec)
  },

  prepareForUpdate(ctx, claim, { spec: before }) {
    if (ctx.info.subresource !== "status" && claim.spec !== undefined) normalizeSources(claim.spec, before)
  },

  validate: (_ctx, claim) => validatePersistentVolumeClaimSpec(path, claim.spec ?? {}),

  validateUpdate(ctx, claim, current) {
    if (ctx.info.subresource === "status") return validateClaimStatus(claim)
    return [...validatePersistentVolumeClaimSpec(path, claim.spec ?? {}), ...validateChange(claim, current)]
  },

  warnings: (_ctx, claim) => claimWarnings(claim),

  selectableFields: (claim) => ({ name: claim.metadata.name ?? "" }),
}

export const persistentVolumeClaims: KindExtension = { strategy }

/**
 * The two names of where the content comes from are one field, as long as it is in this namespace. The older one alone drops
 * what it never knew.
 */
function normalizeSources(spec: ClaimSpec, before: ClaimSpec = {}): void {
  const { dataSource, dataSourceRef } = spec
  if (dataSource !== undefined && dataSourceRef !== undefined) return
  if (dataSource !== undefined) {
    const { apiGroup = "", kind } = dataSource
    const known =
      (apiGroup === "" && kind === "PersistentVolumeClaim") ||
      (apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot")
    if (known || hasSource(before)) spec.dataSourceRef = { ...dataSource }
    else delete spec.dataSource
  } else if (dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { namespace: _, ...local } = dataSourceRef
    spec.dataSource = local
  }
}

function hasSource({ dataSource, dataSourceRef }: ClaimSpec): boolean {
  return dataSource !== undefined || dataSourceRef !== undefined
}

/** One with nothing in it is not the same as none. */
const pointers = ["selector", "dataSource", "dataSourceRef"] as const

/** Bound or not, little may change: the volume when there is none yet, the class when there was none, the size upwards. */
function validateChange(claim: PersistentVolumeClaim, current: PersistentVolumeClaim): FieldError[] {
  const spec = claim.spec ?? {}
  const before = current.spec ?? {}
  const bound = current.status?.phase === "Bound"
  const errors: FieldError[] = []
  const rest: ClaimSpec = { ...spec }
  const was: ClaimSpec = { ...before }
  if (!was.volumeName) copy(was, spec, "volumeName")
  if (was.storageClassName === undefined) copy(was, spec, "storageClassName")
  if (bound) {
    copy(rest, before, "volumeAttributesClassName")
    rest.resources = { ...spec.resources, requests: withStorage(spec, sizeOf(before)) }
  }
  if (!semanticEqual(rest, was) || pointers.some((name) => (rest[name] === undefined) !== (was[name] === undefined))) {
    errors.push(
      forbiddenField(
        path,
        `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${difference(rest, was)}`,
      ),
    )
  }
  const [size, old] = [sizeOf(spec) ?? "0", sizeOf(before) ?? "0"]
  if (compareQuantities(parseQuantity(size), parseQuantity(old)) < 0) {
    const actual = (current.status?.capacity as Record<string, string> | undefined)?.["storage"] ?? "0"
    if (compareQuantities(parseQuantity(size), parseQuantity(actual)) <= 0) {
      errors.push(
        forbiddenField(path.child("resources", "requests", "storage"), "field can not be less than status.capacity"),
      )
    }
  }
  errors.push(...immutableField(FieldPath.root("volumeMode"), spec.volumeMode, before.volumeMode))
  return [...errors, ...validateAttributesClass(claim, current)]
}

/** One that is there is changed for another, not given up. */
function validateAttributesClass(claim: PersistentVolumeClaim, current: PersistentVolumeClaim): FieldError[] {
  const name = claim.spec?.volumeAttributesClassName
  const isChanged = name !== current.spec?.volumeAttributesClassName
  if (!isChanged || name || current.status?.currentVolumeAttributesClassName === undefined) return []
  const detail = `update to ${name === undefined ? "nil" : "empty string"} is forbidden when status.currentVolumeAttributesClassName is not nil`
  return [forbiddenField(path.child("volumeAttributesClassName"), detail)]
}

function copy<K extends keyof ClaimSpec>(target: ClaimSpec, source: ClaimSpec, key: K): void {
  const value = source[key]
  if (value === undefined) delete target[key]
  else target[key] = value
}

function sizeOf(spec: ClaimSpec): string | undefined {
  return (spec.resources?.requests as Record<string, string> | undefined)?.["storage"]
}

function withStorage(spec: ClaimSpec, storage: string | undefined): Record<string, string> {
  const requests = { ...(spec.resources?.requests as Record<string, string> | undefined) }
  if (storage === undefined) delete requests["storage"]
  else requests["storage"] = storage
  return requests
}
