// quantity(). Source: k8s.io/apiserver/pkg/cel/library/quantity.go.

import { dictionary } from "../../dictionary.ts"
import {
  addQuantities,
  compareQuantities,
  nanoPerUnit,
  parseQuantity,
  printQuantity,
  type Quantity as Amount,
  subtractQuantities,
} from "../../quantity.ts"
import { CelError, OpaqueValue, type Value, type Implementation } from "../values.ts"
import {
  addForms,
  asFloat,
  asInteger,
  formOf,
  integerForm,
  type QuantityForm,
  subtractForms,
} from "./quantity-forms.ts"
import { compareVersions } from "./versions.ts"

class Quantity extends OpaqueValue {
  readonly typeName = "kubernetes.Quantity"
  override readonly goType = "*resource.Quantity"
  readonly amount: Amount
  readonly form: QuantityForm

  constructor(amount: Amount, form: QuantityForm) {
    super()
    this.amount = amount
    this.form = form
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
    return new Quantity(parseQuantity(text), formOf(text))
  } catch (error) {
    if (error instanceof RangeError) return new CelError(error.message)
    throw error
  }
}

function combined(
  combine: (a: Amount, b: Amount) => Amount,
  combineForms: (a: QuantityForm, b: QuantityForm) => QuantityForm,
): Implementation {
  const whole = (value: bigint): Quantity =>
    new Quantity({ nano: value * nanoPerUnit, format: "DecimalExponent" }, integerForm(value))
  return ([a, other]) => {
    const b = typeof other === "bigint" ? whole(other) : other
    if (!(a instanceof Quantity && b instanceof Quantity)) return undefined
    return new Quantity(combine(a.amount, b.amount), combineForms(a.form, b.form))
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

function ofQuantity(make: (quantity: Quantity) => Value): Implementation {
  return ([value]) => (value instanceof Quantity ? make(value) : undefined)
}

export const quantityFunctions: Readonly<Record<string, Implementation>> = dictionary({
  add: combined(addQuantities, addForms),
  asApproximateFloat: ofQuantity(({ form }) => asFloat(form)),
  asInteger: ofQuantity(({ form }) => asInteger(form) ?? new CelError("cannot convert value to integer")),
  compareTo: compared((order) => BigInt(order)),
  isGreaterThan: compared((order) => order > 0),
  isInteger: ofQuantity(({ form }) => asInteger(form) !== undefined),
  isLessThan: compared((order) => order < 0),
  isQuantity: ([text]) => (typeof text === "string" ? !(parse(text) instanceof CelError) : undefined),
  quantity: ([text]) => (typeof text === "string" ? parse(text) : undefined),
  sign: ofQuantity(({ amount }) => (amount.nano > 0n ? 1n : amount.nano < 0n ? -1n : 0n)),
  sub: combined(subtractQuantities, subtractForms),
})
