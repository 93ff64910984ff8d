// The field and label selectors of access reviews. Only the rights of nodes depend on them, and only on fields. Errors in them are
// reported. Source: k8s.io/kubernetes/pkg/apis/authorization/validation, pkg/registry/authorization/util.

import { type FieldError, type FieldPath, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import { parseFieldSelector, printFieldSelector } from "../../../apimachinery/fields.ts"
import { parseSelector } from "../../../apimachinery/labels.ts"
import { StatusError } from "../../../apimachinery/status.ts"
import { knownOperators, type Requirement, validateOperands, validateRequirement } from "../validation/selectors.ts"

interface SelectorAttributes {
  rawSelector?: string
  requirements?: Requirement[]
}

export interface SelectingAttributes {
  fieldSelector?: SelectorAttributes
  labelSelector?: SelectorAttributes
}

export function validateSelectors(
  path: FieldPath,
  { fieldSelector, labelSelector }: SelectingAttributes,
): FieldError[] {
  return [
    ...validateSelector(path.child("fieldSelector"), fieldSelector, (at, requirement) => [
      ...(requirement.key ? [] : [required(at.child("key"), "must be specified")]),
      ...validateOperands(at, requirement),
    ]),
    ...validateSelector(path.child("labelSelector"), labelSelector, (at, requirement) =>
      validateRequirement(at, requirement, "any operator"),
    ),
  ]
}

function validateSelector(
  path: FieldPath,
  selector: SelectorAttributes | undefined,
  validate: (at: FieldPath, requirement: Requirement) => FieldError[],
): FieldError[] {
  if (selector === undefined) return []
  const { rawSelector = "", requirements = [] } = selector
  const errors: FieldError[] = []
  if (rawSelector !== "" && requirements.length > 0) {
    const text = "may not specified at the same time as requirements"
    errors.push(invalidValue(path.child("rawSelector"), rawSelector, text))
  }
  if (rawSelector === "" && requirements.length === 0) {
    const text = `when ${path.toString()} is specified, requirements or rawSelector is required`
    errors.push(required(path.child("requirements"), text))
  }
  return [
    ...errors,
    ...requirements.flatMap((requirement, index) => validate(path.child("requirements").index(index), requirement)),
  ]
}

/** The parts of the selectors that cannot be evaluated, for the status of the response; "" if there are none. */
export function selectorFaults({ fieldSelector, labelSelector }: SelectingAttributes): string {
  const fields = ignored(fieldSelector, parseFieldSelector, isFieldRequirement)
  const labels = ignored(labelSelector, parseSelector, ({ operator = "" }) => knownOperators.has(operator))
  return [
    ...(fields === undefined ? [] : [`spec.resourceAttributes.fieldSelector ${fields} due to parse error`]),
    ...(labels === undefined ? [] : [`spec.resourceAttributes.labelSelector ${labels} due to parse error`]),
  ].join("; ")
}

/** The field selector without the parts that cannot be evaluated, as text. */
export function understoodFields({ fieldSelector }: SelectingAttributes): string {
  const { rawSelector = "", requirements = [] } = fieldSelector ?? {}
  if (rawSelector !== "") return rawSelector
  return printFieldSelector({
    requirements: requirements.filter(isFieldRequirement).map(({ key = "", operator, values: [value = ""] = [] }) => ({
      field: key,
      equal: operator === "In",
      value,
    })),
  })
}

/** Field selectors support only equality. */
function isFieldRequirement({ operator, values = [] }: Requirement): boolean {
  return (operator === "In" || operator === "NotIn") && values.length === 1
}

function ignored(
  selector: SelectorAttributes | undefined,
  parse: (text: string) => unknown,
  isKnown: (requirement: Requirement) => boolean,
): string | undefined {
  const { rawSelector = "", requirements = [] } = selector ?? {}
  if (rawSelector !== "") return isParsed(parse, rawSelector) ? undefined : "ignored"
  const known = requirements.filter(isKnown)
  if (known.length === requirements.length) return undefined
  return known.length === 0 ? "ignored" : "partially ignored"
}

function isParsed(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}
