// Compiles a checked tree to functions that evaluate it, counting costs like kube-apiserver: constants are folded, and a path of
// fields is one attribute whose steps cost one each. Source: cel-go/interpreter/{planner,interpretable,decorators}.go.

import type { CallNode, ComprehensionNode, Node } from "./syntax/ast.ts"
import { heldBy, qualifyIfPresent } from "./attributes.ts"
import type { CheckedTree } from "./types/checked-tree.ts"
import {
  alternative,
  type Attribute,
  equality,
  invoke,
  logical,
  membership,
  resolver,
  type Run,
  spend,
  type Step,
  stopsEarly,
  strict,
  withStep,
} from "./closures.ts"
import type { Environment } from "./types/environment.ts"
import { implementations, isConversion } from "./functions/index.ts"
import { summing } from "./functions/lists.ts"
import { accumulated, iterate, localAt, makeList, makeMap, makeStruct } from "./makers.ts"
import { callCostOf, noCost, selectCost } from "./cost/runtime-cost.ts"
import { ArrayList, CelError, EntryMap, isError, TypeValue, type Value } from "./values.ts"

/** An invalid constant, found while planning. */
export class PlanFault extends Error {}

interface Planned {
  run: Run
  constant?: Value
  attribute?: Attribute
}

export interface Plan {
  run: Run
  /** Number of slots for variables of comprehensions. */
  slots: number
}

export function planTree(checked: CheckedTree, environment: Environment): Plan {
  const planner = new Planner(checked, environment)
  const { run } = planner.plan(checked.tree)
  return { run, slots: planner.slots }
}

function constant(value: Value): Planned {
  return { run: () => value, constant: value }
}

class Planner {
  slots = 0
  readonly #checked: CheckedTree
  readonly #environment: Environment
  #scope: ReadonlyMap<string, Run> = new Map()

  constructor(checked: CheckedTree, environment: Environment) {
    this.#checked = checked
    this.#environment = environment
  }

  plan(node: Node): Planned {
    const reference = this.#checked.references.get(node)
    if (reference !== undefined) {
      if (reference.kind === "type") return constant(new TypeValue(reference.type.name))
      return this.#attribute({ kind: "path", root: this.#variable(reference.name), steps: [] })
    }
    switch (node.kind) {
      case "literal":
        return constant(node.value)
      case "ident":
        throw new TypeError(`unchecked identifier ${node.name}`)
      case "select":
        if (node.testOnly) return this.#presence(node.operand, node.field)
        return this.#step(node.operand, { key: constant(node.field).run, optional: false })
      case "call":
        return this.#call(node)
      case "list":
        return this.#list(node.elements, node.optional)
      case "map":
        return this.#map(node)
      case "struct":
        return this.#struct(node)
      case "comprehension":
        return { run: this.#comprehension(node) }
    }
  }

  #variable(name: string): Run {
    const local = this.#scope.get(name)
    if (local !== undefined) return local
    return (frame) => {
      const value = frame.variables.get(name)
      return value === undefined ? new CelError(`no such attribute(s): ${name}`) : value
    }
  }

  #attribute(attribute: Attribute): Planned {
    const resolve = resolver(attribute)
    if (attribute.kind === "condition") return { run: resolve, attribute }
    const run: Run = (frame) => {
      const value = resolve(frame)
      spend(frame, selectCost)
      return value
    }
    return { run, attribute }
  }

  #step(operand: Node, step: Step): Planned {
    return this.#attribute(withStep(this.#attributeOf(operand), step))
  }

  #attributeOf(node: Node): Attribute {
    const planned = this.plan(node)
    return planned.attribute ?? { kind: "path", root: planned.run, steps: [] }
  }

  #presence(operand: Node, field: string): Planned {
    const resolve = resolver(this.#attributeOf(operand))
    return {
      run(frame) {
        const { value, optional } = heldBy(resolve(frame))
        if (value === undefined) return false
        if (isError(value)) return value
        const found = qualifyIfPresent(value, field)
        const isFault = found !== undefined && isError(found)
        if (!optional || (found !== undefined && !isFault)) spend(frame, selectCost)
        return isFault ? found : found !== undefined
      },
    }
  }

  #call(node: CallNode): Planned {
    const name = this.#checked.functions.get(node) ?? node.name
    const isNamespaced = this.#checked.functions.has(node)
    const args = node.target === undefined || isNamespaced ? node.args : [node.target, ...node.args]
    const [first, second, third] = args
    if (first !== undefined && second !== undefined) {
      switch (name) {
        case "_&&_":
          return { run: logical(this.plan(first).run, this.plan(second).run, false) }
        case "_||_":
          return { run: logical(this.plan(first).run, this.plan(second).run, true) }
        case "_?_:_":
          if (third !== undefined) return this.#condition(first, second, third)
          break
        case "_[_]":
          return this.#index(first, second, false)
        case "_[?_]":
        case "_?._":
          return this.#index(first, second, true)
        case "or":
        case "orValue":
          if (node.target !== undefined) return { run: alternative(this.plan(first).run, this.plan(second).run, name) }
      }
    }
    return this.#function(node, name, args)
  }

  #condition(condition: Node, yes: Node, no: Node): Planned {
    const test = this.plan(condition).run
    return this.#attribute({
      kind: "condition",
      condition: test,
      yes: this.#attributeOf(yes),
      no: this.#attributeOf(no),
    })
  }

  #index(operand: Node, index: Node, optional: boolean): Planned {
    const planned = this.plan(index)
    const key = planned.attribute === undefined ? planned.run : resolver(planned.attribute)
    return this.#step(operand, { key, optional })
  }

  #function(node: CallNode, name: string, args: readonly Node[]): Planned {
    const planned = args.map((arg) => this.plan(arg))
    const runs = planned.map(({ run }) => run)
    const overloads = this.#checked.overloads.get(node) ?? []
    const overload = overloads.length === 1 ? overloads[0] : undefined
    if (name === "_==_" || name === "_!=_") return { run: equality(runs, name === "_==_", callCostOf(name, overload)) }
    const implementation = name === "sum" ? summing(overload) : implementations[name]
    if (implementation === undefined) throw new PlanFault(`no such overload: ${name}`)
    const constants = planned.map((one) => one.constant)
    if (isConversion(name) && args.length === 1 && constants[0] !== undefined) {
      const value = invoke(name, implementation, [constants[0]])
      if (isError(value)) throw new PlanFault(value.message)
      return constant(value)
    }
    if (overload === "in_list") {
      const member = membership(constants[1])
      if (member === false) return constant(false)
      if (member) return { run: strict({ name, implementation, runs, cost: noCost }) }
    }
    const hasConstantPattern = ["find", "findAll", "matches"].includes(name) && typeof constants[1] === "string"
    if (hasConstantPattern) {
      const tried = invoke(name, implementations["matches"] ?? implementation, ["", constants[1] ?? null])
      if (isError(tried)) throw new PlanFault(tried.message)
    }
    const cost = callCostOf(name, overload)
    const stops = hasConstantPattern || stopsEarly(name, overload, runs.length)
    return { run: strict({ name, implementation, runs, cost, stopsEarly: stops }) }
  }

  #list(elements: readonly Node[], optional: ReadonlySet<number>): Planned {
    const planned = elements.map((element) => this.plan(element))
    if (planned.every((one) => one.constant !== undefined)) {
      return constant(new ArrayList(planned.map((one) => one.constant ?? null)))
    }
    return { run: makeList(planned.map((one, index) => ({ run: one.run, optional: optional.has(index) }))) }
  }

  #map(node: Extract<Node, { kind: "map" }>): Planned {
    const entries = node.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }))
    if (entries.every(({ key, value }) => key.constant !== undefined && value.constant !== undefined)) {
      return constant(new EntryMap(entries.map(({ key, value }) => [key.constant ?? null, value.constant ?? null])))
    }
    const runs = entries.map(({ key, value, optional }) => ({ key: key.run, value: value.run, optional }))
    return { run: makeMap(runs) }
  }

  #struct(node: Extract<Node, { kind: "struct" }>): Planned {
    const name = node.name.startsWith(".") ? node.name.slice(1) : node.name
    const fields = node.fields.map((field) => ({
      name: field.name,
      run: this.plan(field.value).run,
      optional: field.optional,
    }))
    return { run: makeStruct(name, fields, this.#environment.types) }
  }

  #comprehension(node: ComprehensionNode): Run {
    const range = this.plan(node.range).run
    const init = this.plan(node.init).run
    const outer = this.#scope
    const [accu, first, second] = [this.slots++, this.slots++, this.slots++]
    this.#scope = new Map([...outer, [node.accuVar, accumulated(accu, init)]])
    const result = this.plan(node.result).run
    this.#scope = new Map([
      ...this.#scope,
      [node.iterVar, localAt(first)],
      ...(node.iterVar2 === undefined ? [] : [[node.iterVar2, localAt(second)] as const]),
    ])
    const condition = this.plan(node.condition).run
    const step = this.plan(node.step).run
    this.#scope = outer
    const isOverPairs = node.iterVar2 !== undefined
    return iterate({ range, condition, step, result, isOverPairs, slots: { accu, first, second } })
  }
}
