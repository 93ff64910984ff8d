// Validation of selector and pod template that all workloads share. Source: k8s.io/kubernetes/pkg/apis/apps/validation.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"
import { matches, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { PodTemplateSpec } from "../../../apimachinery/object.ts"
import { validatePodTemplate } from "../core/pod-spec/validate.ts"
import {
  isEmptySelector,
  type LabelSelector,
  type Requirement,
  validateLabelSelector,
} from "../validation/selectors.ts"

/** `word` is the name of the kind in the message ("deployment"). */
export function validateSelector(path: FieldPath, selector: LabelSelector | undefined, word: string): FieldError[] {
  if (selector === undefined) return [required(path)]
  const errors = validateLabelSelector(path, selector)
  if (isEmptySelector(selector)) errors.push(invalidValue(path, selector, `empty selector is invalid for ${word}`))
  return errors
}

/** The selector must match the template's labels, otherwise the workload would not find its own pods. */
export function validateMatches(
  path: FieldPath,
  selector: LabelSelector | undefined,
  template: PodTemplateSpec,
): FieldError[] {
  const labels = template.metadata?.labels
  if (!isUnderstood(selector)) return []
  // A missing selector matches nothing, an empty one everything.
  if (selector !== undefined && matches(selectorFromLabelSelector(selector), labels ?? {})) return []
  return [wrongLabels(path, template)]
}

export function wrongLabels(path: FieldPath, { metadata = {} }: PodTemplateSpec): FieldError {
  const shown = isGivenEmpty(metadata, "labels") ? {} : metadata.labels
  return invalidValue(path.child("metadata", "labels"), shown, "`selector` does not match template `labels`")
}

/**
 * For workloads that run indefinitely: `kind` is for the message. If the selector is invalid, the template is not validated, except
 * for its restart policy and deadline in StatefulSets.
 */
export function validateSelected(
  path: FieldPath,
  selector: LabelSelector | undefined,
  template: PodTemplateSpec,
  kind: string,
  detail = "invalid label selector",
): FieldError[] {
  const at = path.child("template")
  if (!isUnderstood(selector)) {
    const fault = invalidValue(path.child("selector"), shown(selector), detail)
    return kind === "StatefulSet" ? [fault, ...validateServing(at, template, kind)] : [fault]
  }
  return [...validateMatches(at, selector, template), ...validateServingTemplate(at, template, kind)]
}

function isUnderstood(selector: LabelSelector | undefined): boolean {
  return selector === undefined || validateLabelSelector(FieldPath.root("selector"), selector).length === 0
}

/** In Go's order of fields and keys. */
function shown({ matchLabels, matchExpressions }: LabelSelector = {}): object {
  return {
    matchLabels:
      matchLabels && Object.fromEntries(Object.entries(matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    matchExpressions: matchExpressions?.map(printedRequirement),
  }
}

/** A missing string equals an empty one. */
function printedRequirement({ key = "", operator = "", values }: Requirement): object {
  return { key, operator, values }
}

/** Templates of workloads that run indefinitely: pods always restart and have no deadline. `kind` is for the message. */
export function validateServingTemplate(path: FieldPath, template: PodTemplateSpec, kind: string): FieldError[] {
  return [...validatePodTemplate(path, template), ...validateServing(path, template, kind)]
}

function validateServing(path: FieldPath, template: PodTemplateSpec, kind: string): FieldError[] {
  const errors: FieldError[] = []
  const policy = template.spec?.restartPolicy
  if (policy !== "Always") {
    // The general validation lists all policies; only this one is supported here.
    const at = path.child("spec", "restartPolicy")
    errors.push(notSupported(at, policy ?? "", ["Always"]))
  }
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbiddenField(path.child("spec", "activeDeadlineSeconds"), `activeDeadlineSeconds in ${kind} is not Supported`),
    )
  }
  return errors
}

export const emptyTemplate: PodTemplateSpec = { spec: { containers: [] } }

/** The spec of a workload whose defaults are to be set, also those of its template's metadata: what is missing is added, empty. */
export function specWithTemplate<S extends { template?: PodTemplateSpec }>(object: { spec?: S }): S {
  const completed = (object.spec ??= {} as S)
  const spec: { template?: PodTemplateSpec } = completed
  spec.template ??= {}
  spec.template.metadata ??= {}
  return completed
}
