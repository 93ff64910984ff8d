// Finds errors in the constants of a checked expression: dates, patterns, formats, mixed lists. Source: cel-go/cel/validator.go,
// cel-go/ext/strings.go.

import { type CallNode, childrenOf, type Node } from "../syntax/ast.ts"
import type { CheckedTree } from "./checked-tree.ts"
import { conversions } from "../functions/convert.ts"
import { clausesOf, formatString, indexFault, surplusFault } from "../functions/format-string.ts"
import type { Issue } from "../syntax/issues.ts"
import { patternError } from "../../schema/regular-expressions/patterns.ts"
import { isOptional, printType, sameType, type Type, unwrapOptional } from "./types.ts"
import { ArrayList, Duration, EntryMap, isError, OpaqueValue, Timestamp, UInt, type Value } from "../values.ts"

export function literalIssues(checked: CheckedTree): Issue[] {
  const nodes = allNodes(checked.tree)
  return [
    ...ofCalls(nodes, "duration", (value) => isFaulty("duration", value)),
    ...ofCalls(nodes, "timestamp", (value) => isFaulty("timestamp", value)),
    ...ofCalls(nodes, "matches", (value) => typeof value === "string" && patternError(value) !== undefined),
    ...unformatted(checked.tree).flatMap((node) => mixedIssues(node, checked)),
    ...nodes.flatMap((node) => (node.kind === "call" && node.name === "format" ? formatIssues(node, checked) : [])),
  ]
}

function allNodes(tree: Node, found: Node[] = []): Node[] {
  found.push(tree)
  for (const child of childrenOf(tree)) allNodes(child, found)
  return found
}

/** Excludes the arguments of format(), which may have different types. */
function unformatted(tree: Node, found: Node[] = []): Node[] {
  if (tree.kind === "call" && tree.name === "format")
    return tree.target === undefined ? found : unformatted(tree.target, found)
  found.push(tree)
  for (const child of childrenOf(tree)) unformatted(child, found)
  return found
}

function isFaulty(conversion: string, value: Value): boolean {
  const converted = conversions[conversion]?.(value)
  return converted !== undefined && isError(converted)
}

function ofCalls(nodes: readonly Node[], name: string, isWrong: (value: Value) => boolean): Issue[] {
  return nodes.flatMap((node) => {
    const arg = node.kind === "call" && node.name === name ? node.args[0] : undefined
    const wrong = arg?.kind === "literal" && isWrong(arg.value)
    return arg !== undefined && wrong ? [{ at: arg.at, message: `invalid ${name} argument` }] : []
  })
}

/** Lists of different types pass the type checker by means of dyn(), but not this check. Arguments of format() are exempt. */
function mixedIssues(node: Node, { types }: CheckedTree): Issue[] {
  const issues: Issue[] = []
  const typeOf = (one: Node, optional: boolean): Type | undefined => {
    const type = types.get(one)
    return type !== undefined && optional && isOptional(type) ? unwrapOptional(type) : type
  }
  const compare = (one: Node, expected: Type | undefined, actual: Type | undefined): boolean => {
    if (expected === undefined || actual === undefined || sameType(expected, actual)) return true
    issues.push({ at: one.at, message: `expected type '${printType(expected)}' but found '${printType(actual)}'` })
    return false
  }
  if (node.kind === "list") {
    const [first] = node.elements
    const expected = first && typeOf(first, node.optional.has(0))
    for (const [index, element] of node.elements.entries()) {
      if (!compare(element, expected, typeOf(element, node.optional.has(index)))) break
    }
  } else if (node.kind === "map") {
    const [first] = node.entries
    for (const { key, value, optional } of node.entries) {
      compare(key, first && types.get(first.key), types.get(key))
      compare(value, first && typeOf(first.value, first.optional), typeOf(value, optional))
    }
  }
  return issues
}

function formatIssues(node: CallNode, checked: CheckedTree): Issue[] {
  const {
    target,
    args: [list],
  } = node
  if (target?.kind !== "literal" || typeof target.value !== "string" || list?.kind !== "list") return []
  const { clauses, fault } = clausesOf(target.value)
  const wrong = (message: string): Issue[] => [{ at: node.at, message }]
  for (const [index, clause] of clauses.entries()) {
    const element = list.elements[index]
    if (element === undefined) return wrong(indexFault(index))
    if (clause.fault !== undefined) return wrong(clause.fault)
    const message = clauseFault(clause.letter, element, checked)
    if (message !== undefined) return [{ at: element.at, message }]
  }
  if (fault !== undefined) return wrong(fault)
  const count = list.elements.length
  return count > clauses.length ? wrong(surplusFault(clauses.length, count)) : []
}

/** Checks with a value of the element's type, if it is known. */
function clauseFault(clause: string, element: Node, { types }: CheckedTree): string | undefined {
  const type = types.get(element)
  const example = exampleOf(type)
  // Some texts are numbers: "NaN". Which they are is not checked here.
  if (type?.kind === "string" && "ef".includes(clause)) return undefined
  if (example === undefined) return undefined
  const tried = formatString(`%${clause}`, [element.kind === "literal" ? element.value : example])
  return isError(tried) ? tried.message : undefined
}

/** Upstream tries the type itself, which can only be formatted when it is known what is in it: dyn(x). */
class AnyExample extends OpaqueValue {
  readonly typeName = "google.protobuf.Any"

  equals(): boolean {
    return false
  }
}

function exampleOf(type: Type | undefined): Value | undefined {
  switch (type?.kind) {
    case "bool":
      return true
    case "int":
      return 1n
    case "double":
      return 1
    case "string":
      return "x"
    case "null":
      return null
    case "duration":
      return new Duration(0n)
    case "timestamp":
      return new Timestamp(0n)
    case "bytes":
      return new Uint8Array()
    case "uint":
      return new UInt(0n)
    case "list":
      return new ArrayList([])
    case "map":
      return new EntryMap([])
    case "any":
      return new AnyExample()
    default:
      return undefined
  }
}
