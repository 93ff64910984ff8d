// Evaluates lists, maps, messages and comprehensions: plan.ts uses these for literals and macros that are not constant. Source:
// cel-go/interpreter/interpretable.go (evalList, evalMap, evalObj, evalFold).

import { goTypeOf, type Run, spend } from "./closures.ts"
import type { Environment } from "./types/environment.ts"
import { listCost, mapCost, structCost } from "./cost/runtime-cost.ts"
import {
  ArrayList,
  CelError,
  EntryMap,
  GrowingList,
  isError,
  ListValue,
  MapValue,
  Optional,
  type Value,
} from "./values.ts"

/** `optional`: written as ?value, and omitted if there is none. What ends in an error costs as much as what is made. */
export function makeList(elements: readonly { run: Run; optional: boolean }[]): Run {
  return costing(listCost, (frame) => {
    const items: Value[] = []
    for (const { run, optional } of elements) {
      const value = run(frame)
      if (isError(value)) return value
      if (!optional) items.push(value)
      else if (!(value instanceof Optional)) return new CelError("invalid optional element initialization")
      else if (value.value !== undefined) items.push(value.value)
    }
    return new ArrayList(items)
  })
}

function costing(cost: number, make: Run): Run {
  return (frame) => {
    const made = make(frame)
    spend(frame, cost)
    return made
  }
}

export function makeMap(entries: readonly { key: Run; value: Run; optional: boolean }[]): Run {
  return costing(mapCost, (frame) => {
    const made: [Value, Value][] = []
    for (const { key, value, optional } of entries) {
      const name = key(frame)
      if (isError(name)) return name
      const item = value(frame)
      if (isError(item)) return item
      if (!optional) made.push([name, item])
      else if (!(item instanceof Optional)) return new CelError("invalid optional entry initialization")
      else if (item.value !== undefined) made.push([name, item.value])
    }
    return new EntryMap(made)
  })
}

export function makeStruct(
  name: string,
  fields: readonly { name: string; run: Run; optional: boolean }[],
  types: Environment["types"],
): Run {
  return costing(structCost, (frame) => {
    const made = new Map<string, Value>()
    for (const field of fields) {
      const value = field.run(frame)
      if (isError(value)) return value
      if (!field.optional) made.set(field.name, value)
      else if (!(value instanceof Optional)) return new CelError("invalid optional field initialization")
      else if (value.value !== undefined) made.set(field.name, value.value)
    }
    return types.construct?.(name, made) ?? new CelError(`unknown type: ${name}`)
  })
}

interface Iteration {
  range: Run
  condition: Run
  step: Run
  result: Run
  /** Two variables: index and item, or key and value. */
  isOverPairs: boolean
  /** The slots of the variables in the frame. */
  slots: { accu: number; first: number; second: number }
}

export const localAt =
  (slot: number): Run =>
  (frame) =>
    frame.locals[slot] as Value

/** What an iteration has accumulated so far: at first `init`, which is only evaluated if it is asked for. */
export function accumulated(slot: number, init: Run): Run {
  return (frame) => {
    const known = frame.locals[slot]
    if (known !== undefined) return known
    const start = init(frame)
    return (frame.locals[slot] = start instanceof ListValue && start.size === 0 ? new GrowingList([]) : start)
  }
}

export function iterate({ range, condition, step, result, isOverPairs, slots }: Iteration): Run {
  const { accu, first, second } = slots
  return (frame) => {
    const over = range(frame)
    if (isError(over)) return over
    if (!(over instanceof ListValue) && !(over instanceof MapValue)) {
      return new CelError(`got '${goTypeOf(over)}', expected iterable type`)
    }
    const { locals } = frame
    locals[accu] = undefined
    const keys = over instanceof MapValue ? over.keys() : undefined
    const size = keys?.length ?? over.size
    for (let index = 0; index < size; index++) {
      const key = keys === undefined ? BigInt(index) : (keys[index] as Value)
      const item = over instanceof MapValue ? (isOverPairs ? (over.get(key) ?? null) : key) : over.at(index)
      locals[first] = isOverPairs ? key : item
      locals[second] = item
      if (condition(frame) === false) break
      locals[accu] = step(frame)
    }
    return result(frame)
  }
}
