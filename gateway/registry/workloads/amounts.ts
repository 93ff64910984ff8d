// Numbers that may be percentages, and counters of a status. Source: k8s.io/kubernetes/pkg/apis/apps/validation.

import { type FieldError, type FieldPath, invalidValue, typeInvalid } from "../../../apimachinery/field-errors.ts"
import { messages, nonNegative, percentRule } from "../validation/values.ts"

/** int-or-string in its wire format. */
type Amount = string | number

export function amountOf(value: unknown): Amount | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined
}

export function validateAmount(path: FieldPath, value: Amount | undefined): FieldError[] {
  if (typeof value === "number") return nonNegative(path, value)
  if (typeof value === "string") return messages(path, value, percentRule(value))
  return [typeInvalid(path, value, "must be an integer or percentage (e.g '5%%')")]
}

export function atMostAll(path: FieldPath, value: Amount | undefined): FieldError[] {
  return typeof value === "string" && percentRule(value).length === 0 && Number.parseInt(value, 10) > 100
    ? [invalidValue(path, value, "must not be greater than 100%")]
    : []
}

/** The number without its percent sign, for comparison with zero. Any other text is zero. */
export function bareNumber(value: Amount | undefined): number {
  if (typeof value !== "string") return value ?? 0
  return /^(?:[0-9]+%|[+-]?[0-9]+)$/.test(value) ? Number.parseInt(value, 10) : 0
}

/** Counters must not be negative, and parts must not exceed the whole. */
export function validateCounters(
  path: FieldPath,
  status: object | undefined,
  names: readonly string[],
  parts: readonly (readonly [part: string, whole: string, message: string])[] = [],
): FieldError[] {
  const values = (status ?? {}) as Record<string, number | undefined>
  const errors = names.flatMap((name) => nonNegative(path.child(name), values[name]))
  for (const [part, whole, message] of parts) {
    if ((values[part] ?? 0) > (values[whole] ?? 0))
      errors.push(invalidValue(path.child(part), values[part] ?? 0, message))
  }
  return errors
}

export function notDecremented(path: FieldPath, value: number | undefined, current: number | undefined): FieldError[] {
  return current !== undefined && (value === undefined || value < current)
    ? [invalidValue(path, value ?? 0, "cannot be decremented")]
    : []
}

interface Rollout {
  type?: string
  rollingUpdate?: { maxUnavailable?: unknown; maxSurge?: unknown }
}

/** As upstream's conversion: the internal types have no pointers here. */
export function convertRollout(rollout: Rollout | undefined): void {
  if (rollout?.rollingUpdate === undefined) return
  rollout.rollingUpdate.maxUnavailable ??= 0
  rollout.rollingUpdate.maxSurge ??= 0
}

/** Go's representation. */
export function shownRollout({ type = "", rollingUpdate }: Rollout): object {
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {}
  return {
    Type: type,
    RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge },
  }
}
