// The syntax tree of a CEL expression. Macros are expanded by the parser to comprehensions. `at` is the position for errors, as
// an offset in code points.

import type { Value } from "../values.ts"

interface LiteralNode {
  kind: "literal"
  at: number
  value: Value
}

interface IdentNode {
  kind: "ident"
  at: number
  name: string
}

interface SelectNode {
  kind: "select"
  at: number
  operand: Node
  field: string
  /** has(operand.field) */
  testOnly: boolean
}

export interface CallNode {
  kind: "call"
  at: number
  name: string
  target: Node | undefined
  args: Node[]
}

interface ListNode {
  kind: "list"
  at: number
  elements: Node[]
  /** Indexes of elements written as ?element. */
  optional: ReadonlySet<number>
}

export interface MapEntryNode {
  key: Node
  value: Node
  optional: boolean
}

interface MapNode {
  kind: "map"
  at: number
  entries: MapEntryNode[]
}

export interface StructFieldNode {
  at: number
  name: string
  value: Node
  optional: boolean
}

export interface StructNode {
  kind: "struct"
  at: number
  name: string
  fields: StructFieldNode[]
}

export interface ComprehensionNode {
  kind: "comprehension"
  at: number
  range: Node
  iterVar: string
  /** The second variable of x.all(i, v, …). */
  iterVar2: string | undefined
  accuVar: string
  init: Node
  condition: Node
  step: Node
  result: Node
}

export type Node = LiteralNode | IdentNode | SelectNode | CallNode | ListNode | MapNode | StructNode | ComprehensionNode

/** The accumulator of macros; it is not a valid identifier. */
export const accumulator = "@result"

export function literal(at: number, value: Value): LiteralNode {
  return { kind: "literal", at, value }
}

export function ident(at: number, name: string): IdentNode {
  return { kind: "ident", at, name }
}

export function call(at: number, name: string, ...args: Node[]): CallNode {
  return { kind: "call", at, name, target: undefined, args }
}

/** Joins the `terms` (at least one) with the operator `name` to a balanced tree; the operator after term n is at `places[n]`. */
export function balanced(name: string, terms: readonly Node[], places: readonly number[]): Node {
  const join = (low: number, high: number): Node => {
    const middle = Math.floor((low + high + 1) / 2)
    const left = middle === low ? (terms[middle] as Node) : join(low, middle - 1)
    const right = middle === high ? (terms[middle + 1] as Node) : join(middle + 1, high)
    return call(places[middle] ?? 0, name, left, right)
  }
  return places.length === 0 ? (terms[0] as Node) : join(0, places.length - 1)
}

export function list(at: number, ...elements: Node[]): ListNode {
  return { kind: "list", at, elements, optional: new Set() }
}

/** a.b.c as one name, if it consists only of names. */
export function qualifiedName(node: Node): string | undefined {
  if (node.kind === "ident") return node.name
  if (node.kind !== "select" || node.testOnly) return undefined
  const prefix = qualifiedName(node.operand)
  return prefix === undefined ? undefined : `${prefix}.${node.field}`
}

/** The child nodes, in source order. */
export function childrenOf(node: Node): Node[] {
  switch (node.kind) {
    case "literal":
    case "ident":
      return []
    case "select":
      return [node.operand]
    case "call":
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case "list":
      return node.elements
    case "map":
      return node.entries.flatMap((entry) => [entry.key, entry.value])
    case "struct":
      return node.fields.map((field) => field.value)
    case "comprehension":
      return [node.range, node.init, node.condition, node.step, node.result]
  }
}
