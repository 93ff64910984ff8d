// References of a HorizontalPodAutoscaler: to its scale target, and to the object that a metric describes. Source:
// k8s.io/kubernetes/pkg/apis/autoscaling/validation.

import type * as models from "@kubernetes/client-node"
import { type FieldError, type FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { validatePathSegmentName } from "../../../../apimachinery/names.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import { named } from "../../validation/values.ts"

export type Reference = Partial<Wire<models.V2CrossVersionObjectReference>>

/** Valid values of apiVersion: group and version, also a version alone, or any value if it is unchanged. */
export type VersionRule = "group" | "any group" | "anything"

export function validateReference(at: FieldPath, reference: Reference | undefined, rule: VersionRule): FieldError[] {
  const { kind, name, apiVersion = "" } = reference ?? {}
  const errors = [
    ...named(at.child("kind"), kind, validatePathSegmentName),
    ...named(at.child("name"), name, validatePathSegmentName),
  ]
  const fault = versionFault(apiVersion, rule)
  return fault === undefined ? errors : [...errors, invalidValue(at.child("apiVersion"), apiVersion, fault)]
}

function versionFault(apiVersion: string, rule: VersionRule): string | undefined {
  if (rule === "anything") return undefined
  const slashes = apiVersion.split("/").length - 1
  if (slashes > 1) return `unexpected GroupVersion string: ${apiVersion}`
  const hasGroup = slashes === 1 && !apiVersion.startsWith("/")
  return rule === "group" && !hasGroup ? "apiVersion must specify API group" : undefined
}
