// What all workloads check of their selector and pod template. Source: k8s.io/kubernetes/pkg/apis/apps/validation.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/given-empty.ts"
import { matches, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { PodTemplateSpec } from "../../../apimachinery/object.ts"
import { validatePodTemplate } from "../core/pod-spec/validate.ts"
import {
  isEmptySelector,
  type LabelSelector,
  type Requirement,
  validateLabelSelector,
} from "../validation/selectors.ts"

/** `word` is how the message names the kind ("deployment"). */
export function validateSelector(path: FieldPath, selector: LabelSelector | undefined, word: string): FieldError[] {
  if (selector === undefined) return [required(path)]
  const errors = validateLabelSelector(path, selector)
  if (isEmptySelector(selector)) errors.push(invalidValue(path, selector, `empty selector is invalid for ${word}`))
  return errors
}

/** A template whose pods the selector does not match would never be seen again by who made them. */
export function validateMatches(
  path: FieldPath,
  selector: LabelSelector | undefined,
  template: PodTemplateSpec,
): FieldError[] {
  const labels = template.metadata?.labels
  if (!isUnderstood(selector)) return []
  // No selector matches nothing; an empty one everything.
  if (selector !== undefined && matches(selectorFromLabelSelector(selector), labels ?? {})) return []
  return [wrongLabels(path, template)]
}

export function wrongLabels(path: FieldPath, { metadata = {} }: PodTemplateSpec): FieldError {
  const shown = isGivenEmpty(metadata, "labels") ? {} : metadata.labels
  return invalidValue(path.child("metadata", "labels"), shown, "`selector` does not match template `labels`")
}

/**
 * Of what runs for ever: `kind` is for the message. A template is looked at when it is known what it has to match, a set's in how it
 * runs even so.
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

/** A text that is not there is an empty one. */
function printedRequirement({ key = "", operator = "", values }: Requirement): object {
  return { key, operator, values }
}

/** Templates of what runs for ever: pods are restarted always and have no deadline. `kind` is for the message. */
export function validateServingTemplate(path: FieldPath, template: PodTemplateSpec, kind: string): FieldError[] {
  return [...validatePodTemplate(path, template), ...validateServing(path, template, kind)]
}

function validateServing(path: FieldPath, template: PodTemplateSpec, kind: string): FieldError[] {
  const errors: FieldError[] = []
  const policy = template.spec?.restartPolicy
  if (policy !== "Always") {
    // The general check has named every policy; only this one is possible here.
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
