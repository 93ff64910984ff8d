// Validates scheduling constraints of pods: node selectors, affinity, tolerations, topology spread constraints.
// Source: k8s.io/kubernetes/pkg/apis/core/validation.

import { repeats } from "../../../../apimachinery/repeats.ts"
import type * as models from "@kubernetes/client-node"
import {
  asJson,
  duplicate,
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain, validateLabelValue } from "../../../../apimachinery/names.ts"
import type { Wire } from "../../../../apimachinery/object.ts"
import { validateLabelName, validateLabelSelector } from "../../validation/selectors.ts"
import { messages, optionalOneOf, positive } from "../../validation/values.ts"
import type { Affinity, PodSpec, Toleration } from "./types.ts"

export type NodeSelector = Wire<models.V1NodeSelector>
type Term = Wire<models.V1NodeSelectorTerm>
type PodAffinityTerm = Wire<models.V1PodAffinityTerm>

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"]

export function validateTolerations(path: FieldPath, tolerations: readonly Toleration[] | undefined): FieldError[] {
  return (tolerations ?? []).flatMap((toleration, index) => {
    const at = path.index(index)
    const { key = "", operator = "", effect = "", value = "" } = toleration
    const errors = key === "" ? [] : validateLabelName(at.child("key"), key)
    if (key === "" && operator !== "Exists") {
      errors.push(
        invalidValue(
          at.child("operator"),
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      )
    }
    if (toleration.tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.push(
        invalidValue(at.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      )
    }
    if (operator === "Equal" || operator === "") {
      const faults = validateLabelValue(value)
      if (faults.length > 0) errors.push(invalidValue(at.child("operator"), value, faults.join(";")))
    } else if (operator !== "Exists") {
      // Lt and Gt are behind a disabled feature gate; upstream's message then lists them all the same.
      const supported = operator === "Lt" || operator === "Gt" ? ["Equal", "Exists", "Lt", "Gt"] : ["Equal", "Exists"]
      errors.push(notSupported(at.child("operator"), operator, supported))
    } else if (value !== "") {
      errors.push(invalidValue(at.child("operator"), value, "value must be empty when `operator` is 'Exists'"))
    }
    if (effect !== "") errors.push(...optionalOneOf(at.child("effect"), effect, effects))
    return errors
  })
}

/** Updates may add tolerations and change tolerationSeconds, nothing else. */
export function validateOnlyAddedTolerations(
  path: FieldPath,
  tolerations: readonly Toleration[] = [],
  current: readonly Toleration[] = [],
): FieldError[] {
  const withoutSeconds = ({ key = "", operator = "", value = "", effect = "" }: Toleration): string =>
    JSON.stringify([key, operator, value, effect])
  // Not compared pairwise: there may be tens of thousands.
  const there = new Set(tolerations.map(withoutSeconds))
  return current.every((old) => there.has(withoutSeconds(old)))
    ? validateTolerations(path, tolerations)
    : [forbiddenField(path, "existing toleration can not be modified except its tolerationSeconds")]
}

export function validateAffinity(path: FieldPath, affinity: Affinity | undefined): FieldError[] {
  if (affinity === undefined) return []
  const errors: FieldError[] = []
  const nodes = affinity.nodeAffinity
  if (nodes?.requiredDuringSchedulingIgnoredDuringExecution !== undefined) {
    errors.push(
      ...validateNodeSelector(
        path.child("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
        nodes.requiredDuringSchedulingIgnoredDuringExecution,
      ),
    )
  }
  for (const [index, term] of (nodes?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    const at = path.child("nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution").index(index)
    errors.push(
      ...validateWeight(at, term.weight),
      ...validateTerm(at.child("preference"), term.preference ?? {}, true),
    )
  }
  for (const name of ["podAffinity", "podAntiAffinity"] as const) {
    const pods = affinity[name]
    const requiredPath = path.child(name, "requiredDuringSchedulingIgnoredDuringExecution")
    for (const [index, term] of (pods?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      errors.push(...validatePodTerm(requiredPath.index(index), term))
    }
    const preferredPath = path.child(name, "preferredDuringSchedulingIgnoredDuringExecution")
    for (const [index, weighted] of (pods?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      const at = preferredPath.index(index)
      errors.push(...validateWeight(at, weighted.weight))
      errors.push(...validatePodTerm(at.child("podAffinityTerm"), weighted.podAffinityTerm ?? {}))
    }
  }
  return errors
}

function validateWeight(path: FieldPath, weight: number | undefined): FieldError[] {
  const value = weight ?? 0
  return value < 1 || value > 100 ? [invalidValue(path.child("weight"), value, "must be in the range 1-100")] : []
}

function validatePodTerm(path: FieldPath, term: Partial<PodAffinityTerm>): FieldError[] {
  const errors = [
    ...validateLabelKeys(path, term),
    ...validateLabelSelector(path.child("labelSelector"), term.labelSelector),
    ...validateLabelSelector(path.child("namespaceSelector"), term.namespaceSelector),
    ...(term.namespaces ?? []).flatMap((name) => messages(path.child("namespace"), name, validateDNS1123Label(name))),
  ]
  if (!term.topologyKey) errors.push(required(path.child("topologyKey"), "can not be empty"))
  return [...errors, ...validateLabelName(path.child("topologyKey"), term.topologyKey)]
}

interface LabelKeys {
  matchLabelKeys?: readonly string[] | undefined
  mismatchLabelKeys?: readonly string[] | undefined
  labelSelector?: PodAffinityTerm["labelSelector"] | undefined
}

/** Validates the label keys whose values are taken from the pod itself. */
function validateLabelKeys(
  path: FieldPath,
  { matchLabelKeys, mismatchLabelKeys, labelSelector }: LabelKeys,
): FieldError[] {
  const keysOf = (field: string, keys: readonly string[] = []): FieldError[] => {
    const at = path.child(field)
    if (keys.length === 0) return []
    return labelSelector === undefined
      ? [forbiddenField(at, "must not be specified when labelSelector is not set")]
      : keys.flatMap((key, index) => validateLabelName(at.index(index), key))
  }
  const errors = [...keysOf("matchLabelKeys", matchLabelKeys), ...keysOf("mismatchLabelKeys", mismatchLabelKeys)]
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}))
  const lastIndexes = new Map(matchLabelKeys?.map((key, index) => [key, index]))
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = lastIndexes.get(key) ?? -1
    // The selector contains each key of matchLabelKeys once; a second occurrence means that the user specified the key as well.
    if (index >= 0 && seen.has(key)) {
      errors.push(invalidValue(path.index(index), key, "exists in both matchLabelKeys and labelSelector"))
    }
    seen.add(key)
  }
  const mismatched = new Set(mismatchLabelKeys)
  for (const [index, key] of (matchLabelKeys ?? []).entries()) {
    if (mismatched.has(key)) {
      const at = path.child("matchLabelKeys").index(index)
      errors.push(invalidValue(at, key, "exists in both matchLabelKeys and mismatchLabelKeys"))
    }
  }
  return errors
}

export function validateNodeSelector(path: FieldPath, selector: NodeSelector): FieldError[] {
  const at = path.child("nodeSelectorTerms")
  const terms = selector.nodeSelectorTerms ?? []
  return terms.length === 0
    ? [required(at, "must have at least one node selector term")]
    : terms.flatMap((term, index) => validateTerm(at.index(index), term, false))
}

function validateTerm(path: FieldPath, term: Term, anyValues: boolean): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, requirement] of (term.matchExpressions ?? []).entries()) {
    const at = path.child("matchExpressions").index(index)
    errors.push(...validateOperator(at, requirement.operator, requirement.values ?? []))
    errors.push(...validateLabelName(at.child("key"), requirement.key))
    if (anyValues) continue
    for (const [place, value] of (requirement.values ?? []).entries()) {
      errors.push(...messages(at.child("values").index(place), value, validateLabelValue(value)))
    }
  }
  for (const [index, { key, operator, values = [] }] of (term.matchFields ?? []).entries()) {
    const at = path.child("matchFields").index(index)
    if (operator !== "In" && operator !== "NotIn") {
      errors.push(invalidValue(at.child("operator"), asJson(operator ?? ""), "not a valid selector operator"))
    } else if (values.length !== 1) {
      errors.push(
        required(
          at.child("values"),
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      )
    }
    if (key !== "metadata.name") {
      errors.push(invalidValue(at.child("key"), key ?? "", "not a valid field selector key"))
      continue
    }
    for (const [place, value] of values.entries()) {
      errors.push(...messages(at.child("values").index(place), value, validateDNS1123Subdomain(value)))
    }
  }
  return errors
}

function validateOperator(path: FieldPath, operator: string | undefined, values: readonly string[]): FieldError[] {
  const at = path.child("values")
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length === 0 ? [required(at, "must be specified when `operator` is 'In' or 'NotIn'")] : []
    case "Exists":
    case "DoesNotExist":
      return values.length > 0
        ? [forbiddenField(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : []
    case "Gt":
    case "Lt":
      return values.length === 1 ? [] : [required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
    default:
      return [invalidValue(path.child("operator"), asJson(operator ?? ""), "not a valid selector operator")]
  }
}

export function validateSpread(path: FieldPath, constraints: PodSpec["topologySpreadConstraints"]): FieldError[] {
  const all = constraints ?? []
  const repeated = repeats(all.map((one) => JSON.stringify([one.topologyKey, one.whenUnsatisfiable])).toReversed())
  return all.flatMap((constraint, index) => {
    const at = path.index(index)
    const { topologyKey, whenUnsatisfiable, minDomains } = constraint
    const errors = positive(at.child("maxSkew"), constraint.maxSkew ?? 0)
    if (!topologyKey) errors.push(required(at.child("topologyKey"), "can not be empty"))
    errors.push(
      ...optionalOneOf(at.child("whenUnsatisfiable"), whenUnsatisfiable ?? "", ["DoNotSchedule", "ScheduleAnyway"]),
    )
    // Of several constraints with the same keys, all but the last are reported.
    if (repeated.has(all.length - 1 - index)) {
      errors.push(
        duplicate(at.child("{topologyKey, whenUnsatisfiable}"), `{${topologyKey ?? ""}, ${whenUnsatisfiable ?? ""}}`),
      )
    }
    if (minDomains !== undefined) {
      errors.push(...positive(at.child("minDomains"), minDomains))
      if (whenUnsatisfiable !== "DoNotSchedule") {
        errors.push(
          invalidValue(
            at.child("minDomains"),
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        )
      }
    }
    return [
      ...errors,
      ...optionalOneOf(at.child("nodeAffinityPolicy"), constraint.nodeAffinityPolicy, ["Honor", "Ignore"]),
      ...optionalOneOf(at.child("nodeTaintsPolicy"), constraint.nodeTaintsPolicy, ["Honor", "Ignore"]),
      ...validateLabelKeys(at, { ...constraint, mismatchLabelKeys: undefined }),
      ...validateLabelSelector(at.child("labelSelector"), constraint.labelSelector),
    ]
  })
}
