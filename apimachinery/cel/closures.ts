// The functions that evaluate an expression (composed by plan.ts): paths, logic, strict calls, each counting its cost. Source:
// cel-go/interpreter/{interpretable,attributes,runtimecost}.go.

import { dictionary } from "../dictionary.ts"
import { ThreadTime } from "../thread-time.ts"
import { heldBy, qualify, qualifyIfPresent } from "./attributes.ts"
import { equal } from "./compare.ts"
import { type CallCost, costsOfOutcome, selectCost } from "./cost/runtime-cost.ts"
import { Interrupted, maxThreadMs } from "./work.ts"
import {
  CelError,
  isError,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  typeNameOf,
  UInt,
  type Implementation,
  noOverload,
  type Value,
} from "./values.ts"

/** The state of one evaluation. */
export interface Frame {
  readonly variables: { get(name: string): Value | undefined }
  /** Variables of comprehensions, by slot; undefined: has no value yet. */
  readonly locals: (Value | undefined)[]
  cost: number
  readonly limit: number
  /** The cost at which the time is checked next. */
  lookAt?: number
  /** Measured since the first check, before which the evaluation has done hardly anything. */
  time?: ThreadTime
}

/** Cost between two time checks: some 10 µs. */
const lookEvery = 256

export type Run = (frame: Frame) => Value

export class CostExceeded extends Error {
  /** Until then. */
  readonly cost: number

  constructor(cost: number, message = "operation cancelled: actual cost limit exceeded") {
    super(message)
    this.cost = cost
  }
}

export interface Step {
  /** Returns the key: a constant or a computed value. */
  key: Run
  optional: boolean
}

export type Attribute =
  | { kind: "path"; root: Run; steps: readonly Step[] }
  | { kind: "condition"; condition: Run; yes: Attribute; no: Attribute }

export function spend(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CostExceeded(frame.cost)
  if (frame.cost >= (frame.lookAt ?? lookEvery)) lookAtTime(frame)
}

function lookAtTime(frame: Frame): void {
  frame.lookAt = frame.cost + lookEvery
  if (frame.time === undefined) frame.time = new ThreadTime(maxThreadMs)
  else if (frame.time.isOver) throw new Interrupted()
}

export function withStep(attribute: Attribute, step: Step): Attribute {
  if (attribute.kind === "path") return { ...attribute, steps: [...attribute.steps, step] }
  return { ...attribute, yes: withStep(attribute.yes, step), no: withStep(attribute.no, step) }
}

/** Counts the costs of the steps, but not that of the root. */
export function resolver(attribute: Attribute): Run {
  if (attribute.kind === "condition") {
    const { condition } = attribute
    const [yes, no] = [resolver(attribute.yes), resolver(attribute.no)]
    return (frame) => {
      const value = condition(frame)
      if (value === true) return yes(frame)
      if (value === false) return no(frame)
      return isError(value) ? value : noOverload
    }
  }
  const { root, steps } = attribute
  if (steps.length === 0) return (frame) => renewed(root(frame))
  return (frame) => {
    const held = heldBy(renewed(root(frame)))
    let { optional } = held
    if (held.value === undefined) return Optional.none
    let value = held.value
    for (const step of steps) {
      if (isError(value)) return value
      const key = step.key(frame)
      optional ||= step.optional
      if (isError(key)) {
        if (!optional) spend(frame, selectCost)
        return key
      }
      const next = optional ? qualifyIfPresent(value, key) : qualify(value, key)
      if (next === undefined) return Optional.none
      // Upstream counts the steps of an optional that lead to something.
      if (!optional || !isError(next)) spend(frame, selectCost)
      value = next
    }
    return optional && !isError(value) ? new Optional(value) : value
  }
}

/** Upstream takes what an optional holds out of it as a Go value, whenever it is referred to, and makes it a value again. */
function renewed(value: Value): Value {
  if (!(value instanceof Optional) || value.value === undefined) return value
  let held: Value | undefined = value.value
  while (held instanceof Optional) held = held.value
  const made = ofGoValue(held ?? null)
  return made === value.value ? value : new Optional(made)
}

function ofGoValue(value: Value): Value {
  if (value instanceof ListValue || value instanceof MapValue) return value.withoutSchema?.() ?? value
  if (value instanceof CelError) return unsupported("*errors.errorString", value.message)
  if (value instanceof OpaqueValue && value.goType !== undefined) return unsupported(value.goType, String(value))
  return value
}

function unsupported(goType: string, text: string): CelError {
  return new CelError(`unsupported conversion to ref.Val: (${goType})${text}`)
}

/** && (decided by false) and || (by true): a deciding side determines the result even if the other is an error. */
export function logical(left: Run, right: Run, deciding: boolean): Run {
  return (frame) => {
    const a = left(frame)
    if (a === deciding) return deciding
    const b = right(frame)
    if (b === deciding) return deciding
    if (isError(a)) return a
    if (isError(b)) return b
    return typeof a === "boolean" && typeof b === "boolean" ? !deciding : noOverload
  }
}

/** optional.or(other) and .orValue(other): `other` is only evaluated if the optional is empty. */
export function alternative(optional: Run, other: Run, name: "or" | "orValue"): Run {
  return (frame) => {
    const value = optional(frame)
    if (!(value instanceof Optional)) return value
    if (value.value === undefined) return other(frame)
    return name === "or" ? value : value.value
  }
}

/** For a constant list: undefined if its elements must be compared one by one, false if it is empty. */
export function membership(list: Value | undefined): boolean | undefined {
  if (!(list instanceof ListValue)) return undefined
  if (list.size === 0) return false
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index)
    if (item === null || (typeof item === "object" && !(item instanceof UInt))) return undefined
  }
  return true
}

export function equality([left, right]: readonly Run[], positive: boolean, cost: CallCost): Run {
  if (left === undefined || right === undefined) throw new TypeError("equality of nothing")
  return (frame) => {
    const a = left(frame)
    const b = right(frame)
    const result = isError(a) ? a : isError(b) ? b : compared(a, b, positive)
    spend(frame, cost([a, b], result))
    return result
  }
}

function compared(a: Value, b: Value, positive: boolean): Value {
  const isEqual = equal(a, b)
  return positive ? isEqual : isEqual !== true
}

/** Whether its arguments are evaluated only until one is an error, whose call costs nothing. */
export function stopsEarly(name: string, overload: string | undefined, count: number): boolean {
  if (count !== 2) return count > 2
  return name === "format" || (overload === undefined && !ofTwo.test(name))
}

/** Functions whose overloads have one implementation, which takes two arguments. */
const ofTwo = /^(?:_.*_|@.*|contains|endsWith|matches|startsWith)$/

interface Call {
  name: string
  implementation: Implementation
  runs: readonly Run[]
  cost: CallCost
  stopsEarly?: boolean
}

export function strict({ name, implementation, runs, cost, stopsEarly: stops = false }: Call): Run {
  const lenient = name === "@not_strictly_false"
  const isOfOutcome = costsOfOutcome.has(cost)
  return (frame) => {
    const args: Value[] = []
    let fault: CelError | undefined
    for (const run of runs) {
      const value = run(frame)
      if (isError(value)) fault ??= value
      args.push(value)
      if (stops && fault !== undefined && args.length < runs.length) return fault
    }
    if (fault !== undefined && !lenient) {
      spend(frame, cost(args, fault))
      return fault
    }
    // A call that is too expensive according to its arguments is not executed.
    if (!isOfOutcome) spend(frame, cost(args, null))
    const result = invoke(name, implementation, args)
    if (isOfOutcome) spend(frame, cost(args, result))
    return result
  }
}

export function invoke(name: string, implementation: Implementation, args: readonly Value[]): Value {
  const result = implementation(args)
  return result === undefined ? new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(", ")})`) : result
}

const goTypes: Readonly<Record<string, string>> = dictionary({
  bool: "Bool",
  bytes: "Bytes",
  double: "Double",
  int: "Int",
  null_type: "Null",
  string: "String",
  uint: "Uint",
})

/** Its name in errors. */
export function goTypeOf(value: Value): string {
  const name = typeNameOf(value)
  return `types.${goTypes[name] ?? name}`
}
