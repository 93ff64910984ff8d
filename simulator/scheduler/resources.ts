// What a pod asks of a node and what a node has, in whole numbers that are quick to add: cpu in thousandths, the rest in
// units. Source of the rules: k8s.io/component-helpers/resource (sidecars and init containers count as there).

import type { Container, Node, Pod } from "../../apimachinery/object.ts"
import { milliValue, parseQuantity, unitValue } from "../../apimachinery/quantity.ts"

/** Resource name → amount. Every pod also asks for one of "pods". */
export type Amounts = Map<string, number>

function amountOf(resource: string, quantity: string): number {
  const parsed = parseQuantity(quantity)
  return resource === "cpu" ? milliValue(parsed) : unitValue(parsed)
}

export function addAmounts(target: Amounts, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [resource, amount] of amounts) target.set(resource, (target.get(resource) ?? 0) + sign * amount)
}

function raiseTo(target: Amounts, amounts: Amounts): void {
  for (const [resource, amount] of amounts) {
    if (amount > (target.get(resource) ?? 0)) target.set(resource, amount)
  }
}

function requestsOf(container: Container): Amounts {
  const amounts: Amounts = new Map()
  const requests = { ...container.resources?.limits, ...container.resources?.requests }
  for (const [resource, quantity] of Object.entries(requests)) amounts.set(resource, amountOf(resource, quantity))
  return amounts
}

/** The larger of: all containers and sidecars together; any init container with the sidecars started before it. */
export function podRequests(pod: Pod): Amounts {
  const total: Amounts = new Map()
  for (const container of pod.spec?.containers ?? []) addAmounts(total, requestsOf(container))
  const sidecars: Amounts = new Map()
  const initial: Amounts = new Map()
  for (const container of pod.spec?.initContainers ?? []) {
    const needed = requestsOf(container)
    addAmounts(needed, sidecars)
    raiseTo(initial, needed)
    if (container.restartPolicy === "Always") {
      addAmounts(sidecars, requestsOf(container))
    }
  }
  addAmounts(total, sidecars)
  raiseTo(total, initial)
  for (const [resource, quantity] of Object.entries(pod.spec?.overhead ?? {})) {
    total.set(resource, (total.get(resource) ?? 0) + amountOf(resource, quantity))
  }
  total.set("pods", 1)
  return total
}

export function allocatable(node: Node): Amounts {
  const amounts: Amounts = new Map()
  const listed = node.status?.allocatable ?? node.status?.capacity ?? {}
  for (const [resource, quantity] of Object.entries(listed)) amounts.set(resource, amountOf(resource, quantity))
  return amounts
}
