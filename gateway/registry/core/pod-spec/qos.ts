// The quality-of-service class of a pod. Source: k8s.io/kubernetes/pkg/apis/core/v1/helper/qos.

import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../../apimachinery/quantity.ts"
import type { PodSpec, ResourceList, ResourceRequirements } from "./types.ts"

const computed = ["cpu", "memory"]

export function qosClass(spec: PodSpec): "Guaranteed" | "Burstable" | "BestEffort" {
  const parts: (ResourceRequirements | undefined)[] =
    spec.resources === undefined
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.resources)
      : [spec.resources]
  const requests = sum(parts.map((part) => part?.requests))
  const limits = sum(parts.map((part) => part?.limits))
  if (requests.size === 0 && limits.size === 0) return "BestEffort"
  const everyLimit = parts.every((part) => sum([part?.limits]).size === computed.length)
  const equal = [...requests].every(([name, amount]) => {
    const limit = limits.get(name)
    return limit !== undefined && compareQuantities(limit, amount) === 0
  })
  return everyLimit && equal && requests.size === limits.size ? "Guaranteed" : "Burstable"
}

/** Sums the positive amounts. */
function sum(lists: readonly (ResourceList | undefined)[]): Map<string, Quantity> {
  const zero = parseQuantity("0")
  const total = new Map<string, Quantity>()
  for (const list of lists) {
    for (const name of computed) {
      const text = list?.[name]
      const amount = text === undefined ? zero : parseQuantity(text)
      if (compareQuantities(amount, zero) > 0) total.set(name, addQuantities(total.get(name) ?? zero, amount))
    }
  }
  return total
}
