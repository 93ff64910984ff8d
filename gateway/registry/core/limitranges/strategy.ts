// LimitRanges: limits and defaults for the resources of pods and claims. Source: k8s.io/kubernetes/pkg/apis/core.

import { randomUUID } from "node:crypto"
import type * as models from "@kubernetes/client-node"
import {
  asJson,
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateQualifiedName } from "../../../../apimachinery/names.ts"
import type { LimitRange, Wire } from "../../../../apimachinery/object.ts"
import { compareQuantities, milliValue, parseQuantity, unitValue } from "../../../../apimachinery/quantity.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { messages } from "../../validation/values.ts"
import { isOvercommitAllowed, validateContainerResourceName, validateResourceName } from "../pod-spec/resources.ts"
import type { ResourceList } from "../pod-spec/types.ts"

/** The client model renames `default`, a JavaScript keyword. */
export type LimitRangeItem = Omit<Wire<models.V1LimitRangeItem>, "_default"> & { default?: Record<string, string> }

const lists = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const

const strategy: Strategy<LimitRange> = {
  generation: false,
  allowCreateOnUpdate: true,

  default(range) {
    range.spec ??= { limits: [] }
    for (const item of limitRangeItems(range)) if (item.type === "Container") defaultItem(item)
  },

  /** The only kind whose objects need no name. */
  prepareForCreate(_ctx, { metadata }) {
    metadata.name = metadata.name || randomUUID()
  },

  validate: (_ctx, range) => validate(range),
  validateUpdate: (_ctx, range) => validate(range),
}

export const limitRanges: KindExtension = { strategy }

export function limitRangeItems(range: LimitRange): LimitRangeItem[] {
  return range.spec?.limits ?? []
}

/** A limit defaults to the maximum; a request defaults to the limit, or else to the minimum. */
function defaultItem(item: LimitRangeItem): void {
  const limits = { ...amounts(item, "max"), ...amounts(item, "default") }
  const requests = { ...amounts(item, "min"), ...limits, ...amounts(item, "defaultRequest") }
  if (Object.keys(limits).length > 0) item.default = limits
  if (Object.keys(requests).length > 0) item.defaultRequest = requests
}

/** Without a prototype, so that lookups of missing names do not find its properties. */
function amounts(item: LimitRangeItem, list: (typeof lists)[number]): ResourceList {
  return Object.assign(Object.create(null) as ResourceList, item[list])
}

function validate(range: LimitRange): FieldError[] {
  const seen = new Set<string>()
  return limitRangeItems(range).flatMap((item, index) => {
    const at = FieldPath.root("spec", "limits").index(index)
    const errors = messages(at.child("type"), asJson(item.type ?? ""), validateQualifiedName(item.type ?? ""))
    const standard = ["Pod", "Container", "PersistentVolumeClaim"].includes(item.type)
    if (errors.length === 0 && !item.type.includes("/") && !standard) {
      errors.push(invalidValue(at.child("type"), asJson(item.type), "must be a standard limit type or fully qualified"))
    }
    if (seen.has(item.type)) errors.push(duplicate(at.child("type"), asJson(item.type)))
    seen.add(item.type)
    return [...errors, ...validateItem(at, item)]
  })
}

function validateItem(at: FieldPath, item: LimitRangeItem): FieldError[] {
  const errors: FieldError[] = []
  for (const list of lists) {
    const names = Object.keys(amounts(item, list)).sort()
    if (item.type === "Pod" && (list === "default" || list === "defaultRequest")) {
      if (names.length > 0) errors.push(forbiddenField(at.child(list), "may not be specified when `type` is 'Pod'"))
      continue
    }
    const rule = item.type === "Pod" || item.type === "Container" ? validateContainerResourceName : validateResourceName
    for (const name of names) errors.push(...rule(at.child(list).key(name), name))
  }
  const [min, max] = [amounts(item, "min"), amounts(item, "max")]
  if (item.type === "PersistentVolumeClaim" && min["storage"] === undefined && max["storage"] === undefined) {
    errors.push(
      required(at.child("limits"), "either minimum or maximum storage value is required, but neither was provided"),
    )
  }
  const all = Object.fromEntries(lists.map((list) => [list, amounts(item, list)])) as Amounts
  const names = new Set(lists.flatMap((list) => Object.keys(all[list])))
  return [...errors, ...[...names].sort().flatMap((name) => validateOrder(at, all, name))]
}

type Amounts = Record<(typeof lists)[number], ResourceList>

/** min ≤ default request ≤ default ≤ max, for those that are set. */
function validateOrder(at: FieldPath, all: Amounts, name: string): FieldError[] {
  const [min, max] = [all.min[name], all.max[name]]
  const [limit, request] = [all.default[name], all.defaultRequest[name]]
  const ratio = all.maxLimitRequestRatio[name]
  const greater = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) > 0
  const errors: FieldError[] = []
  const fault = (list: string, value: string | undefined, why: string): void => {
    errors.push(invalidValue(at.child(list).key(name), value, why))
  }
  if (greater(min, max)) fault("min", min, `min value ${min} is greater than max value ${max}`)
  if (greater(min, request)) {
    fault("defaultRequest", request, `min value ${min} is greater than default request value ${request}`)
  }
  if (greater(request, max)) {
    fault("defaultRequest", request, `default request value ${request} is greater than max value ${max}`)
  }
  if (greater(request, limit)) {
    fault("defaultRequest", request, `default request value ${request} is greater than default limit value ${limit}`)
  }
  if (greater(min, limit)) fault("default", min, `min value ${min} is greater than default value ${limit}`)
  if (greater(limit, max)) fault("default", max, `default value ${limit} is greater than max value ${max}`)
  if (ratio !== undefined && greater("1", ratio)) fault("maxLimitRequestRatio", ratio, `ratio ${ratio} is less than 1`)
  errors.push(...ratioFault(at.child("maxLimitRequestRatio").key(name), ratio, max, min))
  const differ = limit !== undefined && request !== undefined && (greater(limit, request) || greater(request, limit))
  if (differ && !isOvercommitAllowed(name)) {
    fault("defaultRequest", request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`)
  }
  return errors
}

/** Thousandths are compared while they fit into 64 bits. */
const maxMilli = (2n ** 63n - 1n) / 1000n

/** A ratio that even the extremes do not reach. */
function ratioFault(at: FieldPath, ratio?: string, max?: string, min?: string): FieldError[] {
  if (ratio === undefined || max === undefined || min === undefined) return []
  const amounts = [ratio, max, min].map(parseQuantity)
  const fits = amounts.every((amount) => unitValue(amount) < maxMilli)
  const [wanted = 0, most = 0, least = 0] = amounts.map(fits ? milliValue : unitValue)
  const reached = most / least
  const detail = `ratio ${ratio} is greater than max/min = ${reached.toFixed(6)}`
  return (fits ? wanted / 1000 : wanted) > reached ? [invalidValue(at, ratio, detail)] : []
}
