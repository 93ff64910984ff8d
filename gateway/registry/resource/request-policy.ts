// Valid requests for a part of a device's capacity: certain values, or a range with steps. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation (validateRequestPolicy).

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../apimachinery/field-errors.ts"
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  unitValue,
} from "../../../apimachinery/quantity.ts"
import type { RequestPolicy } from "./types.ts"
import { unique } from "./values.ts"

const mostValues = 10

export function validateRequestPolicy(path: FieldPath, policy: RequestPolicy, capacity: string): FieldError[] {
  const { validValues = [], validRange, default: usual } = policy
  if (validValues.length > 0 && validRange !== undefined) {
    const detail = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
    return [forbiddenField(path, detail)]
  }
  const name = validValues.length > 0 ? "validValues" : "validRange"
  if (validValues.length === 0 && validRange === undefined) return []
  if (usual === undefined) return [required(path.child("default"), `required when ${name} is defined`)]
  const at = path.child(name)
  return validRange === undefined
    ? validateValues(at, validValues, usual, capacity)
    : validateRange(at, validRange, usual, capacity)
}

const isMore = (a: string, b: string): boolean => compareQuantities(parseQuantity(a), parseQuantity(b)) > 0
const print = (text: string): string => printQuantity(parseQuantity(text))

function validateValues(path: FieldPath, values: readonly string[], usual: string, capacity: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, value] of values.entries()) {
    const next = values[index + 1]
    if (next !== undefined && isMore(value, next)) {
      errors.push(invalidValue(path.index(index + 1), print(next), "values must be sorted in ascending order"))
    }
  }
  const check = (at: FieldPath, value: string): FieldError[] =>
    isMore(value, capacity)
      ? [invalidValue(at, print(value), `option is larger than capacity value: ${print(capacity)}`)]
      : []
  errors.push(...unique(path, values, mostValues, check, (value) => String(unitValue(parseQuantity(value)))))
  // Beyond the limit, no value has been examined.
  const isThere = values.length <= mostValues && values.some((value) => !isMore(value, usual) && !isMore(usual, value))
  if (!isThere) {
    errors.push(invalidValue(path, print(usual), "default value is not valid according to the requestPolicy"))
  }
  return errors
}

type Range = NonNullable<RequestPolicy["validRange"]>

function validateRange(path: FieldPath, { min, max, step }: Range, usual: string, capacity: string): FieldError[] {
  const errors: FieldError[] = []
  if (min === undefined) return [required(path.child("min"), "required when validRange is defined")]
  const add = (field: string, value: string, detail: string): void => {
    errors.push(invalidValue(path.child(field), print(value), detail))
  }
  if (isMore(min, capacity)) add("min", min, `min is larger than capacity value: ${print(capacity)}`)
  if (isMore(min, usual)) add("min", usual, `default is less than min: ${print(min)}`)
  if (max !== undefined) {
    if (isMore(min, max)) add("max", min, `min is larger than max: ${print(max)}`)
    if (isMore(max, capacity)) add("max", max, `max is larger than capacity value: ${print(capacity)}`)
    if (isMore(usual, max)) add("max", usual, `default is more than max: ${print(max)}`)
  }
  if (step === undefined) return errors
  const first = addQuantities(parseQuantity(min), parseQuantity(step))
  if (compareQuantities(first, parseQuantity(capacity)) > 0) {
    add("step", step, `one step ${printQuantity(first)} is larger than capacity value: ${print(capacity)}`)
  }
  for (const value of [usual, ...(max === undefined ? [] : [max])]) {
    if (isStep(parseQuantity(value), parseQuantity(min), parseQuantity(step))) continue
    add("step", value, `value is not a multiple of a given step (${print(step)}) from (${print(min)})`)
  }
  return errors
}

/** Upstream divides by a step of zero and answers 500; here only the minimum itself is then valid. */
function isStep(value: Quantity, min: Quantity, step: Quantity): boolean {
  const [distance, size] = [unitValue(value) - unitValue(min), unitValue(step)]
  return size === 0 ? distance === 0 : distance % size === 0
}
