// Macros: calls that are expanded to comprehensions, presence tests or bindings. Source: cel-spec/doc/langdef.md#macros,
// cel-go/ext/comprehensions.go (two variables), cel-go/ext/lists.go (sortBy), cel-go/cel/library.go (optMap).

import { accumulator, call, type ComprehensionNode, ident, list, literal, type Node } from "./ast.ts"

interface MacroFault {
  at: number
  fault: string
}

type Expansion = Node | MacroFault | undefined

/** A call, or what it stands for. `bindings`: cel.bind() is a macro. */
export function expandCall(
  { at, name, target, args }: { at: number; name: string; target: Node | undefined; args: Node[] },
  bindings: boolean,
): Node | MacroFault {
  const expanded = (bindings ? expandBinding(at, name, target, args) : undefined) ?? expandMacro(at, name, target, args)
  return expanded ?? { kind: "call", at, name, target, args }
}

/** cel.bind(x, value, body), a macro in environments that include it. Source: cel-go/ext/bindings.go. */
function expandBinding(at: number, name: string, target: Node | undefined, args: readonly Node[]): Expansion {
  const [variable, value, body] = args
  if (name !== "bind" || target?.kind !== "ident" || target.name !== "cel" || args.length !== 3) return undefined
  if (variable?.kind !== "ident" || value === undefined || body === undefined) {
    return { at: variable?.at ?? at, fault: "cel.bind() variable names must be simple identifiers" }
  }
  return bind(at, variable.name, value, body)
}

/** Undefined if the call is not a macro, which depends on the name, the number of arguments and the presence of a target. */
function expandMacro(at: number, name: string, target: Node | undefined, args: readonly Node[]): Expansion {
  if (target === undefined) return name === "has" && args.length === 1 ? has(at, args[0] as Node) : undefined
  const taken = isIterating(name, args.length) ? args.slice(0, -1).find(isAccumulator) : undefined
  if (taken !== undefined) return { at: taken.at, fault: "iteration variable overwrites accumulator variable" }
  const [first, second, third, fourth] = args
  if (first === undefined || second === undefined) return undefined
  if (third === undefined) return oneVariable(at, name, target, first, second)
  if (fourth === undefined) {
    if (name === "map") return map(at, target, first, third, second)
    return twoVariables(at, name, target, first, second, third)
  }
  return args.length === 4 ? transform(at, name, target, first, second, fourth, third) : undefined
}

const iterating = new Set(["all", "exists", "exists_one", "map", "filter"])

function isIterating(name: string, count: number): boolean {
  return iterating.has(name) && (count === 2 || count === 3)
}

/** The former name of the accumulator, which is still not allowed as a variable. */
function isAccumulator(node: Node): boolean {
  return node.kind === "ident" && node.name === "__result__"
}

function has(at: number, argument: Node): Expansion {
  if (argument.kind === "select") return { ...argument, at, testOnly: true }
  return { at: argument.at, fault: "invalid argument to has() macro" }
}

function oneVariable(at: number, name: string, target: Node, variable: Node, body: Node): Expansion {
  switch (name) {
    case "all":
    case "exists":
    case "exists_one": {
      if (variable.kind !== "ident") return { at: variable.at, fault: "argument must be a simple name" }
      return quantifier(at, name, target, variable.name, undefined, body)
    }
    case "map":
      return map(at, target, variable, body, undefined)
    case "filter":
      if (variable.kind !== "ident") return { at: variable.at, fault: "argument is not an identifier" }
      return collect(at, target, variable.name, undefined, list(at, variable), body)
    case "sortBy":
      return sortBy(at, target, variable, body)
    case "optMap":
    case "optFlatMap":
      return optional(at, name, target, variable, body)
    default:
      return undefined
  }
}

function map(at: number, target: Node, variable: Node, body: Node, filter: Node | undefined): Expansion {
  if (variable.kind !== "ident") return { at: variable.at, fault: "argument is not an identifier" }
  return collect(at, target, variable.name, undefined, list(at, body), filter)
}

function twoVariables(at: number, name: string, target: Node, first: Node, second: Node, body: Node): Expansion {
  switch (name) {
    case "all":
    case "exists":
    case "existsOne":
    case "exists_one": {
      const variables = pair(first, second)
      return Array.isArray(variables) ? quantifier(at, name, target, ...variables, body) : variables
    }
    default:
      return transform(at, name, target, first, second, body, undefined)
  }
}

function transform(
  at: number,
  name: string,
  target: Node,
  first: Node,
  second: Node,
  body: Node,
  filter: Node | undefined,
): Expansion {
  if (name !== "transformList" && name !== "transformMap" && name !== "transformMapEntry") return undefined
  const variables = pair(first, second)
  if (!Array.isArray(variables)) return variables
  if (name === "transformList") return collect(at, target, ...variables, list(at, body), filter)
  const entry = name === "transformMap" ? [ident(at, variables[0]), body] : [body]
  const step = call(at, "cel.@mapInsert", ident(at, accumulator), ...entry)
  return comprehension(
    at,
    target,
    variables,
    { kind: "map", at, entries: [] },
    literal(at, true),
    filtered(at, step, filter),
  )
}

function pair(first: Node, second: Node): [string, string] | MacroFault {
  for (const variable of [first, second]) {
    if (variable.kind !== "ident") return { at: variable.at, fault: "argument must be a simple name" }
  }
  if (first.kind !== "ident" || second.kind !== "ident")
    return { at: first.at, fault: "argument must be a simple name" }
  if (first.name === second.name) {
    return { at: second.at, fault: `duplicate variable name: ${first.name}` }
  }
  return [first.name, second.name]
}

function quantifier(
  at: number,
  name: string,
  target: Node,
  variable: string,
  variable2: string | undefined,
  body: Node,
): ComprehensionNode {
  const result = ident(at, accumulator)
  const variables: [string, string | undefined] = [variable, variable2]
  switch (name) {
    case "all": {
      const condition = call(at, "@not_strictly_false", result)
      return comprehension(at, target, variables, literal(at, true), condition, call(at, "_&&_", result, body))
    }
    case "exists": {
      const condition = call(at, "@not_strictly_false", call(at, "!_", result))
      return comprehension(at, target, variables, literal(at, false), condition, call(at, "_||_", result, body))
    }
    default: {
      const step = call(at, "_?_:_", body, call(at, "_+_", result, literal(at, 1n)), result)
      const counted = comprehension(at, target, variables, literal(at, 0n), literal(at, true), step)
      return { ...counted, result: call(at, "_==_", result, literal(at, 1n)) }
    }
  }
}

function collect(
  at: number,
  target: Node,
  variable: string,
  variable2: string | undefined,
  added: Node,
  filter: Node | undefined,
): ComprehensionNode {
  const step = call(at, "_+_", ident(at, accumulator), added)
  return comprehension(at, target, [variable, variable2], list(at), literal(at, true), filtered(at, step, filter))
}

function filtered(at: number, step: Node, filter: Node | undefined): Node {
  return filter === undefined ? step : call(at, "_?_:_", filter, step, ident(at, accumulator))
}

function comprehension(
  at: number,
  range: Node,
  [iterVar, iterVar2]: [string, string | undefined],
  init: Node,
  condition: Node,
  step: Node,
): ComprehensionNode {
  const result = ident(at, accumulator)
  return { kind: "comprehension", at, range, iterVar, iterVar2, accuVar: accumulator, init, condition, step, result }
}

/** Binds a name to a value: a comprehension over an empty list, with the value as its accumulator. */
function bind(at: number, name: string, value: Node, result: Node): ComprehensionNode {
  return {
    kind: "comprehension",
    at,
    range: list(at),
    iterVar: "#unused",
    iterVar2: undefined,
    accuVar: name,
    init: value,
    condition: literal(at, false),
    step: ident(at, name),
    result,
  }
}

function sortBy(at: number, target: Node, variable: Node, key: Node): Expansion {
  if (
    target.kind !== "list" &&
    target.kind !== "select" &&
    target.kind !== "ident" &&
    target.kind !== "comprehension" &&
    target.kind !== "call"
  ) {
    return {
      at: target.at,
      fault: "sortBy can only be applied to a list, identifier, comprehension, call or select expression",
    }
  }
  if (variable.kind !== "ident") return { at: variable.at, fault: "argument must be a simple name" }
  const keys = collect(at, ident(at, sortedInput), variable.name, undefined, list(at, key), undefined)
  const sorted: Node = { kind: "call", at, name: "@sortByAssociatedKeys", target: ident(at, sortedInput), args: [keys] }
  return bind(at, sortedInput, target, sorted)
}

const sortedInput = "@__sortBy_input__"

function optional(at: number, name: string, target: Node, variable: Node, body: Node): Expansion {
  if (variable.kind !== "ident") {
    return { at: variable.at, fault: `${name}() variable name must be a simple identifier` }
  }
  const member = (method: string): Node => ({ kind: "call", at, name: method, target, args: [] })
  const none: Node = call(at, "optional.none")
  const bound = bind(at, variable.name, member("value"), body)
  const present = name === "optMap" ? call(at, "optional.of", bound) : bound
  return call(at, "_?_:_", member("hasValue"), present, none)
}
