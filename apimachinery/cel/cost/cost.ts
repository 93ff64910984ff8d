// Worst-case costs of an expression, from the possible sizes of its inputs: an expression that may cost too much is rejected
// before it runs. The figures are kube-apiserver's, since definitions that it accepts must be accepted here. Source:
// cel-go/checker/cost.go; costs of functions: cost-functions.ts.

import { accumulator, type CallNode, type ComprehensionNode, type Node } from "../syntax/ast.ts"
import type { CheckedTree } from "../types/checked-tree.ts"
import { callEstimate } from "./cost-functions.ts"
import {
  addRanges,
  type CallEstimate,
  fixed,
  type Range,
  timesRange,
  unionRange,
  unknownSize,
  type SizedNode,
} from "./cost-range.ts"
import { dynType, isOptional, type Type } from "../types/types.ts"
import { codePoints } from "../values.ts"

/** Sizes of inputs, as limited by a schema. */
export interface SizeEstimator {
  /** The size of the value at a path: a variable, then fields, @items, @keys, @values. */
  sizeOf(path: readonly string[], type: Type): Range | undefined
}

/** Sizes of the elements of an expression's result. */
interface EntrySize {
  kind: "list" | "map"
  key: Range
  value: Range
}

interface LocalVariable {
  path: readonly string[]
  size: Range | undefined
  entry: EntrySize | undefined
}

export function estimateCost(checked: CheckedTree, sizes: SizeEstimator): Range {
  return new Coster(checked, sizes).cost(checked.tree)
}

const one = fixed(1)
const zero = fixed(0)

class Coster {
  readonly #checked: CheckedTree
  readonly #sizes: SizeEstimator
  readonly #paths = new Map<Node, readonly string[]>()
  readonly #computed = new Map<Node, Range>()
  readonly #entries = new Map<Node, EntrySize>()
  readonly #locals = new Map<string, LocalVariable[]>()

  constructor(checked: CheckedTree, sizes: SizeEstimator) {
    this.#checked = checked
    this.#sizes = sizes
  }

  cost(node: Node): Range {
    switch (node.kind) {
      case "literal":
        return zero
      case "ident":
        this.#paths.set(node, this.#local(node.name)?.path ?? [node.name])
        return one
      case "select":
        return this.#select(node)
      case "call":
        return this.#call(node)
      case "list":
        return this.#list(node)
      case "map":
        return this.#map(node)
      case "struct":
        return addRanges(fixed(40), ...node.fields.map((field) => this.cost(field.value)))
      case "comprehension":
        return this.#isBinding(node) ? this.#binding(node) : this.#comprehension(node)
    }
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, variable: LocalVariable): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), variable])
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  #typeOf(node: Node): Type {
    return this.#checked.types.get(node) ?? dynType
  }

  #pathOf(node: Node): readonly string[] {
    if (node.kind === "ident") return this.#local(node.name)?.path ?? this.#paths.get(node) ?? []
    return this.#paths.get(node) ?? []
  }

  #select(node: Extract<Node, { kind: "select" }>): Range {
    // A path that is a single name: Object, google.protobuf.Timestamp.
    if (this.#checked.references.has(node)) return one
    const operand = this.cost(node.operand)
    if (node.testOnly) return operand
    this.#paths.set(node, [...this.#pathOf(node.operand), node.field])
    const { kind } = this.#typeOf(node.operand)
    return kind === "map" || kind === "struct" || kind === "parameter" ? addRanges(operand, one) : operand
  }

  #call(node: CallNode): Range {
    const name = this.#checked.functions.get(node) ?? node.name
    const [first] = node.args
    if (name === "dyn" && first !== undefined) {
      const cost = addRanges(one, this.cost(first))
      this.#copy(node, first)
      return cost
    }
    const costs = node.args.map((arg) => this.cost(arg))
    const args = node.args.map((arg) => this.#sized(arg))
    const overloads = this.#checked.overloads.get(node) ?? []
    if (overloads.length === 0) return zero
    const isMember = node.target !== undefined && !this.#checked.functions.has(node)
    const targetCost = isMember && node.target !== undefined ? this.cost(node.target) : zero
    const target = isMember && node.target !== undefined ? this.#sized(node.target) : undefined
    let cost: Range = { min: 2 ** 64, max: 0 }
    let size: Range | undefined
    for (const overload of overloads) {
      const estimate = this.#estimate(node, name, overload, target, args, costs)
      cost = unionRange(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : unionRange(size, estimate.size)
      if (first !== undefined && (overload === "index_list" || overload === "index_map")) {
        size = this.#entryOf(first)?.value
        this.#paths.set(node, [...this.#pathOf(first), overload === "index_list" ? "@items" : "@values"])
      }
      size ??= this.#sizeOf(node)
    }
    if (size !== undefined) this.#computed.set(node, size)
    return addRanges(targetCost, cost)
  }

  #estimate(
    node: CallNode,
    name: string,
    overload: string,
    target: SizedNode | undefined,
    args: readonly SizedNode[],
    costs: readonly Range[],
  ): CallEstimate {
    const total = addRanges(...costs)
    const [a = zero, b = zero, c = zero] = costs
    const [first, second, third] = node.args
    switch (overload) {
      case "logical_or":
      case "logical_and":
        return { cost: { min: a.min, max: addRanges(a, b).max } }
      case "conditional": {
        const [yes, no] = [this.#entryOf(second), this.#entryOf(third)]
        if (yes !== undefined && no !== undefined) this.#entries.set(node, unionEntries(yes, no))
        const size = unionRange(args[1]?.size ?? unknownSize, args[2]?.size ?? unknownSize)
        return { cost: addRanges(a, unionRange(b, c)), size }
      }
      case "add_string":
      case "add_bytes":
      case "add_list": {
        const [left, right] = [this.#entryOf(first), this.#entryOf(second)]
        if (left !== undefined && right !== undefined) this.#entries.set(node, unionEntries(left, right))
      }
    }
    const estimate = callEstimate(name, overload, target, args, (path, type) => this.#sizes.sizeOf(path, type))
    return { ...estimate, cost: addRanges(estimate.cost, total) }
  }

  #sized(node: Node): SizedNode {
    const path = this.#pathOf(node)
    const size = this.#sizeOf(node)
    const known = path[0] === accumulator ? [] : path
    return { path: known, type: this.#typeOf(node), node, ...(size === undefined ? {} : { size }) }
  }

  #sizeOf(node: Node): Range | undefined {
    const computed = this.#computed.get(node) ?? literalSize(node)
    if (computed !== undefined) return computed
    const path = this.#pathOf(node)
    const estimated = this.#sizes.sizeOf(path, this.#typeOf(node))
    if (estimated !== undefined) {
      this.#computed.set(node, estimated)
      return estimated
    }
    if (isScalar(this.#typeOf(node))) return one
    return node.kind === "ident" ? this.#local(node.name)?.size : undefined
  }

  #entryOf(node: Node | undefined): EntrySize | undefined {
    if (node === undefined) return undefined
    return this.#entries.get(node) ?? (node.kind === "ident" ? this.#local(node.name)?.entry : undefined)
  }

  #copy(to: Node, from: Node): void {
    const [size, entry] = [this.#sizeOf(from), this.#entryOf(from)]
    if (size !== undefined) this.#computed.set(to, size)
    if (entry !== undefined) this.#entries.set(to, entry)
  }

  #list(node: Extract<Node, { kind: "list" }>): Range {
    let cost = fixed(10)
    let value: Range = { min: node.elements.length === 0 ? 0 : 2 ** 64, max: 0 }
    for (const element of node.elements) {
      cost = addRanges(cost, this.cost(element))
      value = unionRange(value, this.#sizeOf(element) ?? unknownSize)
    }
    this.#entries.set(node, { kind: "list", key: one, value })
    return cost
  }

  #map(node: Extract<Node, { kind: "map" }>): Range {
    let cost = fixed(30)
    const none: Range = { min: node.entries.length === 0 ? 0 : 2 ** 64, max: 0 }
    let [key, value] = [none, none]
    for (const entry of node.entries) {
      cost = addRanges(cost, this.cost(entry.key), this.cost(entry.value))
      key = unionRange(key, this.#sizeOf(entry.key) ?? unknownSize)
      value = unionRange(value, this.#sizeOf(entry.value) ?? unknownSize)
    }
    this.#entries.set(node, { kind: "map", key, value })
    return cost
  }

  #comprehension(node: ComprehensionNode): Range {
    const start = addRanges(this.cost(node.range), this.cost(node.init))
    this.#pushBound(node.accuVar, node.init)
    this.#pushIteration(node)
    const loop = addRanges(this.cost(node.condition), this.cost(node.step))
    this.#pop(node.iterVar)
    if (node.iterVar2 !== undefined) this.#pop(node.iterVar2)
    const result = this.cost(node.result)
    this.#pop(node.accuVar)
    const count = this.#sizeOf(node.range) ?? unknownSize
    if (node.init.kind === "literal") {
      const size = this.#sizeOf(node.init)
      if (size !== undefined) this.#computed.set(node, size)
    } else if (node.init.kind === "list" || node.init.kind === "map") {
      this.#computed.set(node, count)
      const entry = this.#entryOf(node.step)
      if (entry !== undefined) this.#entries.set(node, entry)
    }
    return addRanges(start, result, timesRange(count, loop))
  }

  #pushBound(name: string, value: Node): void {
    this.#push(name, { path: this.#pathOf(value), size: this.#sizeOf(value), entry: this.#entryOf(value) })
  }

  #pushIteration({ range, iterVar, iterVar2 }: ComprehensionNode): void {
    const entry = this.#entryOf(range)
    const isList = (entry?.kind ?? this.#typeOf(range).kind) === "list"
    const path = this.#pathOf(range)
    const keys = { path: [...path, isList ? "@indices" : "@keys"], size: entry?.key, entry: undefined }
    const values = { path: [...path, isList ? "@items" : "@values"], size: entry?.value, entry: undefined }
    if (iterVar2 === undefined) this.#push(iterVar, isList ? values : keys)
    else {
      this.#push(iterVar, keys)
      this.#push(iterVar2, values)
    }
  }

  #isBinding({ range, condition, accuVar }: ComprehensionNode): boolean {
    if (range.kind !== "list" || range.elements.length > 0) return false
    return condition.kind === "literal" && condition.value === false && accuVar !== "__result__"
  }

  #binding(node: ComprehensionNode): Range {
    const start = addRanges(this.cost(node.range), this.cost(node.init))
    this.#pushBound(node.accuVar, node.init)
    const result = this.cost(node.result)
    this.#pop(node.accuVar)
    this.#copy(node, node.result)
    return addRanges(start, result)
  }
}

function unionEntries(a: EntrySize, b: EntrySize): EntrySize {
  return { kind: a.kind, key: unionRange(a.key, b.key), value: unionRange(a.value, b.value) }
}

function literalSize(node: Node): Range | undefined {
  if (node.kind === "list") return fixed(node.elements.length)
  if (node.kind === "map") return fixed(node.entries.length)
  if (node.kind !== "literal") return undefined
  if (typeof node.value === "string") return fixed(codePoints(node.value))
  return fixed(node.value instanceof Uint8Array ? node.value.length : 1)
}

function isScalar(type: Type): boolean {
  if (isOptional(type)) return isScalar(type.parameters[0] ?? dynType)
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind)
}
