// Amounts of resources by name, and their arithmetic.

import { addQuantities, compareQuantities, parseQuantity, type Quantity, zeroQuantity } from "../quantity.ts"
import { ownValue, setOwn } from "../schema/json-object.ts"

/** Amounts by resource name. Names may be arbitrary, since usage is computed before names are validated. */
export type Amounts = Record<string, Quantity>

type Texts = Readonly<Record<string, string>>

export function parseAmounts(texts: object | undefined): Amounts {
  return Object.fromEntries(Object.entries((texts ?? {}) as Texts).map(([name, text]) => [name, parseQuantity(text)]))
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum = { ...a }
  addTo(sum, b)
  return sum
}

/** In place: there may be many containers, each with its own resource names. */
export function addTo(sum: Amounts, more: Amounts): void {
  for (const [name, amount] of Object.entries(more)) {
    setOwn(sum, name, addQuantities(ownValue(sum, name) ?? zeroQuantity, amount))
  }
}

export function raise(most: Amounts, name: string, amount: Quantity): void {
  const other = ownValue(most, name)
  if (other === undefined || compareQuantities(amount, other) > 0) setOwn(most, name, amount)
}

export function largest(lists: readonly Amounts[]): Amounts {
  const most: Amounts = {}
  for (const list of lists) for (const [name, amount] of Object.entries(list)) raise(most, name, amount)
  return most
}
