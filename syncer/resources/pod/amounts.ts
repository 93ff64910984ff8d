// Amounts of CPU and memory, which can change while a pod runs.

import { compareQuantities, parseQuantity } from "../../../apimachinery/quantity.ts"

export const resizable = ["cpu", "memory"]

/** Servers may print the same quantity differently. */
export function sameAmount(a: string, b: string | undefined): boolean {
  return a === b || (b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0)
}
