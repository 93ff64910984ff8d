// The resources of a pod as a whole must cover those of its containers. Source: validatePodResources in
// k8s.io/kubernetes/pkg/apis/core/validation.

import { equalJson } from "../../../../apimachinery/equality.ts"
import { type FieldError, type FieldPath, forbiddenField, invalidValue } from "../../../../apimachinery/field-errors.ts"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { compareQuantities, printQuantity } from "../../../../apimachinery/quantity.ts"
import { type Amounts, parseAmounts } from "../../../../apimachinery/quota/amounts.ts"
import { podAmounts } from "../../../../apimachinery/quota/usage.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import { type ClaimNames, isHugePages, validateRequirements } from "./resources.ts"

/**
 * If a pod sets pod-level resources, its huge page limits default to the sums of its containers. Once it has limits, its other
 * requests default to the sums too, and to the limits for resources that its containers do not request.
 */
export function defaultPodResources({ resources, containers, initContainers = [] }: PodSpec): boolean {
  const { limits = {}, requests = {} } = resources ?? {}
  if (resources === undefined || (isEmpty(limits) && isEmpty(requests))) return false
  const sums = (kind: "limits" | "requests"): [string, string][] =>
    Object.entries(podAmounts({ containers, initContainers }, kind))
      .filter(([name]) => isPodResource(name))
      .map(([name, amount]) => [name, printQuantity(amount)])
  const pages = sums("limits").filter(([name]) => isHugePages(name) && !Object.hasOwn(requests, name))
  const most = { ...Object.fromEntries(pages), ...limits }
  if (isEmpty(most)) return false
  const asked = sums("requests").filter(([name]) => !isHugePages(name))
  const upToLimit = Object.entries(most).filter(([name]) => isPodResource(name))
  const least = { ...Object.fromEntries(upToLimit), ...Object.fromEntries(asked), ...requests }
  // What has its defaults may be the stored spec, which must not be changed: a write of the status keeps it.
  const [isLimited, isAsked] = [equalJson(limits, most), equalJson(requests, least)]
  if (!isLimited) resources.limits = most
  if (!isAsked) resources.requests = least
  return !isLimited || !isAsked
}

const isEmpty = (list: object): boolean => Object.keys(list).length === 0
const isPodResource = (name: string): boolean => name === "cpu" || name === "memory" || isHugePages(name)

export function validatePodResources(path: FieldPath, spec: PodSpec, claimNames: ClaimNames): FieldError[] {
  const { resources, os } = spec
  if (resources === undefined) return []
  if (os?.name === "windows") return [forbiddenField(path, "may not be set for a windows pod")]
  const errors = validateRequirements(path, resources, claimNames, "pod")
  if (resources.claims !== undefined || isGivenEmpty(resources, "claims")) {
    errors.unshift(forbiddenField(path.child("claims"), "claims may not be set for Resources at pod-level"))
  }
  return [...errors, ...validateSums(path, spec), ...validateEach(path, spec)]
}

/** Of the limits only huge pages are checked, because they cannot be overcommitted. */
function validateSums(path: FieldPath, { resources, containers, initContainers = [] }: PodSpec): FieldError[] {
  return (["requests", "limits"] as const).flatMap((kind) => {
    const whole = parseAmounts(resources?.[kind])
    const sums = Object.entries(podAmounts({ containers, initContainers }, kind))
    return sums.flatMap(([name, sum]) => {
      const given = kind === "requests" || isHugePages(name) ? ownValue(whole, name) : undefined
      if (given === undefined || compareQuantities(sum, given) <= 0) return []
      const why = `must be greater than or equal to aggregate container ${kind} of ${printQuantity(sum)}`
      return [invalidValue(path.child(kind).key(name), printQuantity(given), why)]
    })
  })
}

function validateEach(path: FieldPath, { resources, containers }: PodSpec): FieldError[] {
  const whole: Amounts = parseAmounts(resources?.limits)
  return (containers ?? []).flatMap((container, index) =>
    Object.entries(parseAmounts(container.resources?.limits)).flatMap(([name, limit]) => {
      const most = ownValue(whole, name)
      if (most === undefined || compareQuantities(limit, most) <= 0) return []
      const at = path.child("containers").index(index).key(name).child("limits")
      return [
        invalidValue(at, printQuantity(limit), `must be less than or equal to pod limits of ${printQuantity(most)}`),
      ]
    }),
  )
}
