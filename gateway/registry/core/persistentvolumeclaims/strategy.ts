// PersistentVolumeClaims. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { FieldPath, type FieldError, forbiddenField } from "../../../../apimachinery/field-errors.ts"
import type { PersistentVolumeClaim } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity } from "../../../../apimachinery/quantity.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { difference, immutableFields, semanticEqual } from "../../validation/equality.ts"
import { validateClaimStatus } from "./status.ts"
import { validateClassNamed } from "./class-named.ts"
import { claimWarnings } from "./warnings.ts"
import { type ClaimSpec, validatePersistentVolumeClaimSpec } from "./validate.ts"

const path = FieldPath.root("spec")

const strategy: Strategy<PersistentVolumeClaim> = {
  generation: false,

  dropDisabled({ spec }, current) {
    // Data sources in other namespaces are disabled by default; they are kept and validated only if the current claim has
    // dataSourceRef.
    if (spec?.dataSourceRef?.namespace && current?.spec?.dataSourceRef === undefined) delete spec.dataSourceRef
  },

  default(claim) {
    claim.spec ??= {}
    claim.spec.volumeMode ??= "Filesystem"
    claim.spec.resources ??= {}
    defaultPhase(claim)
  },

  async begin(ctx, claim, current) {
    return current === undefined ? ctx.controlPlane.superQuota.claimVolumeClaim(ctx, claim) : undefined
  },

  prepareForCreate(_ctx, claim) {
    claim.status = {}
    if (claim.spec !== undefined) normalizeSources(claim.spec)
  },

  defaultOnRead: defaultPhase,

  prepareForUpdate(ctx, claim, { spec: before }) {
    if (ctx.info.subresource !== "status" && claim.spec !== undefined) normalizeSources(claim.spec, before)
  },

  validate: (_ctx, claim) => validatePersistentVolumeClaimSpec(path, claim.spec ?? {}),

  validateUpdate(ctx, claim, current) {
    if (ctx.info.subresource === "status") return validateClaimStatus(claim)
    const errors = validatePersistentVolumeClaimSpec(path, claim.spec ?? {}, current.spec)
    return [...errors, ...validateChange(claim, current)]
  },

  warnings: (_ctx, claim) => claimWarnings(claim),

  selectableFields: (claim) => ({ name: claim.metadata.name ?? "" }),
}

export const persistentVolumeClaims: KindExtension = { strategy }

function defaultPhase(claim: PersistentVolumeClaim): boolean {
  if (claim.status?.phase) return false
  claim.status = { ...claim.status, phase: "Pending" }
  return true
}

/**
 * dataSource and dataSourceRef are synchronized if the source is in the claim's namespace. dataSource alone is dropped if its kind
 * is not supported by that field.
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

/** For these, an empty value differs from an absent one. */
const pointers = ["selector", "dataSource", "dataSourceRef"] as const

/** Little is mutable: volumeName and storageClassName if they are unset, and if the claim is bound, the size and the attributes class. */
function validateChange(claim: PersistentVolumeClaim, current: PersistentVolumeClaim): FieldError[] {
  const spec = claim.spec ?? {}
  const before = current.spec ?? {}
  const bound = current.status?.phase === "Bound"
  const rest: ClaimSpec = { ...spec }
  const was: ClaimSpec = { ...before }
  if (!was.volumeName) copy(was, spec, "volumeName")
  const { errors, isNamed } = validateClassNamed(claim, current)
  if (isNamed) copy(was, spec, "storageClassName")
  if (bound) {
    copy(rest, before, "volumeAttributesClassName")
    const { resources = {} } = spec
    // To upstream, empty requests are others than none.
    if (resources.requests !== undefined || isGivenEmpty(resources, "requests"))
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
    const actual = current.status?.capacity?.["storage"] ?? "0"
    if (compareQuantities(parseQuantity(size), parseQuantity(actual)) <= 0) {
      errors.push(
        forbiddenField(path.child("resources", "requests", "storage"), "field can not be less than status.capacity"),
      )
    }
  }
  errors.push(...immutableFields(FieldPath.root(), spec, before, ["volumeMode"]))
  return [...errors, ...validateAttributesClass(claim, current)]
}

/** A volumeAttributesClassName in use can be replaced but not removed. */
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
  return spec.resources?.requests?.["storage"]
}

function withStorage(spec: ClaimSpec, storage: string | undefined): Record<string, string> {
  const requests = { ...spec.resources?.requests }
  if (storage === undefined) delete requests["storage"]
  else requests["storage"] = storage
  return requests
}
