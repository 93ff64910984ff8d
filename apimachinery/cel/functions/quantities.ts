// quantity(). Source: k8s.io/apiserver/pkg/cel/library/quantity.go.

import { dictionary } from "../../dictionary.ts"
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity as Amount,
  subtractQuantities,
} from "../../quantity.ts"
import { int64 } from "../../schema/exact-integers.ts"
import { CelError, OpaqueValue, type Value } from "../values.ts"
import { compareVersions } from "./versions.ts"

type Implementation = (args: readonly Value[]) => Value | undefined

const nanoPerUnit = 1_000_000_000n

class Quantity extends OpaqueValue {
  readonly typeName = "kubernetes.Quantity"
  override readonly goType = "*resource.Quantity"
  readonly amount: Amount

  constructor(amount: Amount) {
    super()
    this.amount = amount
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Quantity && other.amount.nano === this.amount.nano
  }

  override toString(): string {
    return printQuantity(this.amount)
  }
}

function parse(text: string): Value {
  try {
    return new Quantity(parseQuantity(text))
  } catch (error) {
    if (error instanceof RangeError) return new CelError(error.message)
    throw error
  }
}

function units(amount: Amount): bigint | undefined {
  if (amount.nano % nanoPerUnit !== 0n) return undefined
  const value = amount.nano / nanoPerUnit
  return value > int64.max || value < int64.min ? undefined : value
}

function combined(combine: (a: Amount, b: Amount) => Amount): Implementation {
  return ([a, b]) => {
    if (!(a instanceof Quantity)) return undefined
    if (typeof b === "bigint") return new Quantity(combine(a.amount, { nano: b * nanoPerUnit, format: "DecimalSI" }))
    return b instanceof Quantity ? new Quantity(combine(a.amount, b.amount)) : undefined
  }
}

/** For quantities and versions. */
function compared(make: (order: -1 | 0 | 1) => Value): Implementation {
  return (args) => {
    const [a, b] = args
    const order =
      a instanceof Quantity && b instanceof Quantity ? compareQuantities(a.amount, b.amount) : compareVersions(args)
    return order === undefined ? undefined : make(order)
  }
}

function ofQuantity(make: (amount: Amount) => Value): Implementation {
  return ([value]) => (value instanceof Quantity ? make(value.amount) : undefined)
}

export const quantityFunctions: Readonly<Record<string, Implementation>> = dictionary({
  add: combined(addQuantities),
  asApproximateFloat: ofQuantity((amount) => Number(amount.nano) / Number(nanoPerUnit)),
  asInteger: ofQuantity((amount) => units(amount) ?? new CelError("cannot convert value to integer")),
  compareTo: compared((order) => BigInt(order)),
  isGreaterThan: compared((order) => order > 0),
  isInteger: ofQuantity((amount) => units(amount) !== undefined),
  isLessThan: compared((order) => order < 0),
  isQuantity: ([text]) => (typeof text === "string" ? !(parse(text) instanceof CelError) : undefined),
  quantity: ([text]) => (typeof text === "string" ? parse(text) : undefined),
  sign: ofQuantity((amount) => (amount.nano > 0n ? 1n : amount.nano < 0n ? -1n : 0n)),
  sub: combined(subtractQuantities),
})
