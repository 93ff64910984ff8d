// The functions an expression is made of when it runs (plan.ts puts them together): paths, logic, strict calls, each counting its
// cost. Source: cel-go/interpreter/{interpretable,attributes,runtimecost}.go.

import { dictionary } from "../dictionary.ts"
import { ThreadTime } from "../thread-time.ts"
import { heldBy, qualify, qualifyIfPresent } from "./attributes.ts"
import { areEqual } from "./compare.ts"
import type { Implementation } from "./functions/index.ts"
import { type CallCost, costsOfOutcome, selectCost } from "./cost/runtime-cost.ts"
import { CelError, isError, ListValue, Optional, typeNameOf, UInt, type Value } from "./values.ts"

/** One evaluation. */
export interface Frame {
  readonly variables: { get(name: string): Value | undefined }
  /** Variables of comprehensions, by their slot. */
  readonly locals: Value[]
  cost: number
  readonly limit: number
  /** When its time is looked at next, by its cost. */
  lookAt?: number
  /** Since it was looked at first: it has hardly done anything before. */
  time?: ThreadTime
}

/** Cost between two looks at the time: some 10 µs. */
const lookEvery = 256

/**
 * Time on a processor after which an evaluation is interrupted, as upstream's is when its request's time is over: what it
 * costs does not bound how long it holds the thread that all share, since some of what costs next to nothing takes time (the
 * length of a long text, times of a zone). What has the highest cost that is allowed takes a fifth of it.
 */
const maxThreadMs = 250

export type Run = (frame: Frame) => Value

export class CostExceeded extends Error {
  constructor(message = "operation cancelled: actual cost limit exceeded") {
    super(message)
  }
}

export interface Step {
  /** The key: a constant, or what is evaluated for it. */
  key: Run
  optional: boolean
}

export type Attribute =
  | { kind: "path"; root: Run; steps: readonly Step[] }
  | { kind: "condition"; condition: Run; yes: Attribute; no: Attribute }

export function spend(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CostExceeded()
  if (frame.cost >= (frame.lookAt ?? lookEvery)) lookAtTime(frame)
}

function lookAtTime(frame: Frame): void {
  frame.lookAt = frame.cost + lookEvery
  if (frame.time === undefined) frame.time = new ThreadTime(maxThreadMs)
  else if (frame.time.isOver) throw new CostExceeded(`operation interrupted: it takes longer than ${maxThreadMs} ms`)
}

export function withStep(attribute: Attribute, step: Step): Attribute {
  if (attribute.kind === "path") return { ...attribute, steps: [...attribute.steps, step] }
  return { ...attribute, yes: withStep(attribute.yes, step), no: withStep(attribute.no, step) }
}

/** Costs of the steps are counted, that of the root is not. */
export function resolver(attribute: Attribute): Run {
  if (attribute.kind === "condition") {
    const { condition } = attribute
    const [yes, no] = [resolver(attribute.yes), resolver(attribute.no)]
    return (frame) => {
      const value = condition(frame)
      if (value === true) return yes(frame)
      if (value === false) return no(frame)
      return isError(value) ? value : new CelError("no such overload")
    }
  }
  const { root, steps } = attribute
  if (steps.length === 0) return root
  return (frame) => {
    const held = heldBy(root(frame))
    let { optional } = held
    if (held.value === undefined) return Optional.none
    let value = held.value
    for (const step of steps) {
      if (isError(value)) return value
      const key = step.key(frame)
      if (isError(key)) return key
      optional ||= step.optional
      const next = optional ? qualifyIfPresent(value, key) : qualify(value, key)
      if (next === undefined) return Optional.none
      spend(frame, selectCost)
      value = next
    }
    return optional && !isError(value) ? new Optional(value) : value
  }
}

/** && (decided by false) and || (by true): the other side decides even when one is an error. */
export function logical(left: Run, right: Run, deciding: boolean): Run {
  return (frame) => {
    const a = left(frame)
    if (a === deciding) return deciding
    const b = right(frame)
    if (b === deciding) return deciding
    if (isError(a)) return a
    if (isError(b)) return b
    return typeof a === "boolean" && typeof b === "boolean" ? !deciding : new CelError("no such overload")
  }
}

/** optional.or(other) and .orValue(other): the other is evaluated only when there is nothing. */
export function alternative(optional: Run, other: Run, name: "or" | "orValue"): Run {
  return (frame) => {
    const value = optional(frame)
    if (!(value instanceof Optional)) return value
    if (value.value === undefined) return other(frame)
    return name === "or" ? value : value.value
  }
}

/** Of a constant list: undefined when its elements have to be compared one by one, false when there are none. */
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
    const result = isError(a) ? a : isError(b) ? b : areEqual(a, b) === positive
    spend(frame, cost([a, b], result))
    return result
  }
}

export function strict(name: string, implementation: Implementation, runs: readonly Run[], cost: CallCost): Run {
  const lenient = name === "@not_strictly_false"
  const isOfOutcome = costsOfOutcome.has(cost)
  return (frame) => {
    const args: Value[] = []
    let fault: CelError | undefined
    for (const run of runs) {
      const value = run(frame)
      if (isError(value)) fault ??= value
      args.push(value)
    }
    if (fault !== undefined && !lenient) {
      spend(frame, cost(args, fault))
      return fault
    }
    // What its arguments show to cost too much is not done first.
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

/** As errors name it. */
export function goTypeOf(value: Value): string {
  const name = typeNameOf(value)
  return `types.${goTypes[name] ?? name}`
}
