// Validates the spec of claims, of claim templates and of ephemeral volumes. Source: k8s.io/kubernetes/pkg/apis/core/validation.

import type * as models from "@kubernetes/client-node"
import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../../../apimachinery/names.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import { compareQuantities, parseQuantity, zeroQuantity } from "../../../../apimachinery/quantity.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { validateLabelSelector } from "../../validation/selectors.ts"
import { messages, notPositive, optionalOneOf, requiredValue } from "../../validation/values.ts"

export type ClaimSpec = Wire<models.V1PersistentVolumeClaimSpec>

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]

export function validateAccessModes(path: FieldPath, modes: readonly string[]): FieldError[] {
  const errors = modes.flatMap((mode) => (accessModes.includes(mode) ? [] : [notSupported(path, mode, accessModes)]))
  const others = modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode))
  if (others && modes.includes("ReadWriteOncePod")) {
    errors.push(forbiddenField(path, "may not use ReadWriteOncePod with other access modes"))
  }
  return errors
}

export function validateVolumeMode(path: FieldPath, mode: string | undefined): FieldError[] {
  return optionalOneOf(path, mode, ["Block", "Filesystem"])
}

export function positiveQuantity(path: FieldPath, text: string): FieldError[] {
  return compareQuantities(parseQuantity(text), zeroQuantity) > 0 ? [] : [invalidValue(path, text, notPositive)]
}

/** `before`: of the claim that is updated. */
export function validatePersistentVolumeClaimSpec(
  path: FieldPath,
  spec: ClaimSpec,
  before: ClaimSpec = {},
): FieldError[] {
  const modes = spec.accessModes ?? []
  const errors: FieldError[] = []
  if (modes.length === 0) errors.push(required(path.child("accessModes"), "at least 1 access mode is required"))
  errors.push(...validateLabelSelector(path.child("selector"), spec.selector))
  errors.push(...validateAccessModes(path.child("accessModes"), modes))
  const storage = spec.resources?.requests?.["storage"]
  const at = path.child("resources").key("storage")
  errors.push(...(storage === undefined ? [required(at)] : positiveQuantity(at, storage)))
  if (spec.storageClassName) {
    errors.push(
      ...messages(
        path.child("storageClassName"),
        spec.storageClassName,
        validateDNS1123Subdomain(spec.storageClassName),
      ),
    )
  }
  errors.push(...validateVolumeMode(path.child("volumeMode"), spec.volumeMode))
  errors.push(...validateSources(path, spec, before))
  const attributes = spec.volumeAttributesClassName
  if (attributes) {
    errors.push(...messages(path.child("volumeAttributesClassName"), attributes, validateDNS1123Subdomain(attributes)))
  }
  return errors
}

function validateSources(path: FieldPath, spec: ClaimSpec, before: ClaimSpec): FieldError[] {
  const errors: FieldError[] = []
  // A group that is there is not looked at again, nor is the one that is to replace it.
  const hadGroup = [before.dataSource, before.dataSourceRef].some((source) => typeof source?.apiGroup === "string")
  if (spec.dataSource !== undefined) errors.push(...validateSource(path.child("dataSource"), spec.dataSource, hadGroup))
  if (spec.dataSourceRef !== undefined) {
    errors.push(...validateSource(path.child("dataSourceRef"), spec.dataSourceRef, hadGroup))
    const { namespace, ...local } = spec.dataSourceRef
    if (namespace) {
      errors.push(...messages(path.child("dataSourceRef", "namespace"), namespace, validateDNS1123Label(namespace)))
    }
    if (spec.dataSource !== undefined && (namespace || !semanticEqual(local, spec.dataSource))) {
      const why = namespace
        ? "may not be specified when dataSourceRef.namespace is specified"
        : "must match dataSourceRef"
      // Upstream passes a path as the value, which prints as an empty object.
      errors.push(invalidValue(path, {}, why))
    }
  }
  return errors
}

function validateSource(
  path: FieldPath,
  source: { apiGroup?: string; kind: string; name: string },
  hadGroup: boolean,
): FieldError[] {
  const errors = [...requiredValue(path.child("name"), source.name), ...requiredValue(path.child("kind"), source.kind)]
  if (!source.apiGroup && source.kind !== "PersistentVolumeClaim") {
    errors.push(
      invalidValue(path, source.kind ?? "", "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    )
  }
  if (source.apiGroup && !hadGroup) {
    errors.push(...messages(path.child("apiGroup"), source.apiGroup, validateDNS1123Subdomain(source.apiGroup)))
  }
  return errors
}
