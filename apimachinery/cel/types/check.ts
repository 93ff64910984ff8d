// Determines the static types of a tree, and the overloads of its calls. Errors have cel-go's messages, since users see them.
// Source: cel-go/checker/checker.go.

import { type CallNode, type ComprehensionNode, type Node, qualifiedName, type StructNode } from "../syntax/ast.ts"
import type { CheckedTree, Reference } from "./checked-tree.ts"
import { type Environment, type Overload, overloadsOf, typeNamed } from "./environment.ts"
import type { Issue } from "../syntax/issues.ts"
import { printSignature, resolveOverload } from "./overload.ts"
import {
  boolType,
  dynType,
  errorType,
  isDynamic,
  isOptional,
  iterationTypes,
  listType,
  literalType,
  mapType,
  optionalType,
  printType,
  structType,
  type Type,
  typeType,
  unwrapOptional,
} from "./types.ts"
import { mostGeneral, Substitutions } from "./unify.ts"

export function checkTree(tree: Node, environment: Environment): { checked: CheckedTree; issues: Issue[] } {
  const checker = new Checker(environment)
  checker.check(tree)
  return { checked: checker.result(tree), issues: checker.issues }
}

class Checker {
  readonly issues: Issue[] = []
  readonly #environment: Environment
  readonly #types = new Map<Node, Type>()
  readonly #references = new Map<Node, Reference>()
  readonly #overloads = new Map<Node, readonly string[]>()
  readonly #functions = new Map<Node, string>()
  readonly #substitutions = new Substitutions()
  #scopes: ReadonlyMap<string, Type>[] = []

  constructor(environment: Environment) {
    this.#environment = environment
  }

  result(tree: Node): CheckedTree {
    const types = new Map([...this.#types].map(([node, type]) => [node, this.#substitutions.apply(type, "dyn")]))
    return { tree, types, references: this.#references, overloads: this.#overloads, functions: this.#functions }
  }

  check(node: Node): void {
    this.#types.set(node, this.#typeOf(node))
  }

  #typeOf(node: Node): Type {
    switch (node.kind) {
      case "literal":
        return literalType(node.value)
      case "ident":
        return this.#identifier(node, node.name) ?? this.#undeclared(node.at, node.name)
      case "select": {
        const name = qualifiedName(node)
        const found = name === undefined ? undefined : this.#identifier(node, name)
        if (found !== undefined) return found
        const type = this.#field(node.at, node.operand, node.field, false)
        return node.testOnly ? boolType : this.#substitutions.apply(type)
      }
      case "call":
        return node.name === "_?._" ? this.#optionalField(node) : this.#call(node)
      case "list":
        return this.#list(node.elements, node.optional)
      case "map": {
        let keys: Type | undefined
        let values: Type | undefined
        for (const { key, value, optional } of node.entries) {
          keys = this.#join(keys, this.#checked(key))
          values = this.#join(values, this.#element(value, optional))
        }
        return mapType(keys ?? this.#substitutions.newParameter(), values ?? this.#substitutions.newParameter())
      }
      case "struct":
        return this.#struct(node)
      case "comprehension":
        return this.#comprehension(node)
    }
  }

  #checked(node: Node): Type {
    this.check(node)
    return this.#types.get(node) ?? errorType
  }

  #issue(at: number, message: string): void {
    this.issues.push({ at, message })
  }

  #mismatch(at: number, expected: Type, actual: Type): void {
    this.#issue(at, `expected type '${printType(expected)}' but found '${printType(actual)}'`)
  }

  #undeclared(at: number, name: string): Type {
    this.#issue(at, `undeclared reference to '${name}' (in container '')`)
    return errorType
  }

  #isAssignable(a: Type, b: Type): boolean {
    return this.#substitutions.unify([a], [b])
  }

  #identifier(node: Node, written: string): Type | undefined {
    const name = written.startsWith(".") ? written.slice(1) : written
    const local = this.#scopes.findLast((scope) => scope.has(name))?.get(name)
    if (local !== undefined) {
      this.#references.set(node, { kind: "local", name })
      return local
    }
    const variable = this.#environment.variables.get(name)
    if (variable !== undefined) {
      this.#references.set(node, { kind: "variable", name })
      return variable
    }
    const type = typeNamed(name) ?? (this.#environment.types.has(name) ? structType(name) : undefined)
    if (type === undefined) return undefined
    this.#references.set(node, { kind: "type", type })
    return typeType(type)
  }

  #field(at: number, operand: Node, field: string, optional: boolean): Type {
    const operandType = this.#substitutions.apply(this.#checked(operand))
    const target = unwrapOptional(operandType)
    const result = this.#fieldOf(at, target, field)
    return isOptional(operandType) || optional ? optionalType(result) : result
  }

  #fieldOf(at: number, target: Type, field: string): Type {
    switch (target.kind) {
      case "map":
        return target.parameters[1] ?? dynType
      case "struct":
        return this.#fieldType(at, target.name, field) ?? errorType
      case "parameter":
        this.#isAssignable(dynType, target)
        return dynType
      case "any":
      case "dyn":
      case "error":
        return dynType
      default:
        this.#issue(at, `type '${printType(target)}' does not support field selection`)
        return dynType
    }
  }

  #fieldType(at: number, name: string, field: string): Type | undefined {
    if (!this.#environment.types.has(name)) {
      this.#issue(at, `unexpected failed resolution of '${name}'`)
      return undefined
    }
    const type = this.#environment.types.field(name, field)
    if (type === undefined) this.#issue(at, `undefined field '${field}'`)
    return type
  }

  #optionalField(node: CallNode): Type {
    const [operand, field] = node.args as [Node, Node]
    const name = field.kind === "literal" && typeof field.value === "string" ? field.value : ""
    const type = this.#field(node.at, operand, name, true)
    this.#overloads.set(node, ["select_optional_field"])
    return this.#substitutions.apply(type)
  }

  #call(node: CallNode): Type {
    for (const arg of node.args) this.check(arg)
    if (node.target === undefined) {
      const name = node.name.startsWith(".") ? node.name.slice(1) : node.name
      const overloads = overloadsOf(this.#environment, name)
      if (overloads === undefined) return this.#undeclared(node.at, node.name)
      this.#functions.set(node, name)
      return this.#resolve(node, name, overloads, undefined)
    }
    const prefix = qualifiedName(node.target)
    const qualified = prefix === undefined ? undefined : `${prefix}.${node.name}`
    const namespaced = qualified === undefined ? undefined : overloadsOf(this.#environment, qualified)
    if (qualified !== undefined && namespaced !== undefined) {
      this.#functions.set(node, qualified)
      return this.#resolve(node, qualified, namespaced, undefined)
    }
    this.check(node.target)
    const overloads = overloadsOf(this.#environment, node.name)
    if (overloads === undefined) return this.#undeclared(node.at, node.name)
    return this.#resolve(node, node.name, overloads, node.target)
  }

  #resolve(node: CallNode, name: string, overloads: readonly Overload[], target: Node | undefined): Type {
    const args = target === undefined ? node.args : [target, ...node.args]
    const types = args.map((arg) => this.#types.get(arg) ?? errorType)
    const isLogical = name === "_&&_" || name === "_||_"
    if (isLogical) return this.#logical(node, args, types, overloads)
    const isMember = target !== undefined
    const resolved = resolveOverload(overloads, types, isMember, this.#substitutions)
    if (resolved === undefined) {
      const signature = printSignature(types, isMember, this.#substitutions)
      this.#issue(node.at, `found no matching overload for '${name}' applied to '${signature}'`)
      return errorType
    }
    this.#overloads.set(node, resolved.ids)
    return resolved.result
  }

  #logical(node: CallNode, args: readonly Node[], types: readonly Type[], overloads: readonly Overload[]): Type {
    let valid = true
    for (const [index, type] of types.entries()) {
      if (this.#isAssignable(type, boolType)) continue
      this.#mismatch(args[index]?.at ?? node.at, boolType, type)
      valid = false
    }
    if (!valid) return errorType
    const ids = overloads.map(({ id }) => id)
    this.#overloads.set(node, ids)
    return boolType
  }

  #list(elements: readonly Node[], optional: ReadonlySet<number>): Type {
    let items: Type | undefined
    for (const [index, element] of elements.entries()) {
      items = this.#join(items, this.#element(element, optional.has(index)))
    }
    return listType(items ?? this.#substitutions.newParameter())
  }

  /** The type of an element or value; one written as ?value must be optional. */
  #element(node: Node, optional: boolean): Type {
    const type = this.#checked(node)
    if (!optional) return type
    if (!isOptional(type) && !isDynamic(type)) this.#mismatch(node.at, optionalType(type), type)
    return unwrapOptional(type)
  }

  /** Elements of different types become dyn here; validate-literals.ts rejects them. */
  #join(previous: Type | undefined, current: Type): Type {
    if (previous === undefined) return current
    return this.#isAssignable(previous, current) ? mostGeneral(previous, current) : dynType
  }

  #struct(node: StructNode): Type {
    const name = node.name.startsWith(".") ? node.name.slice(1) : node.name
    const isStruct = this.#environment.types.has(name)
    const known = isStruct ? structType(name) : typeNamed(name)
    if (known === undefined) return this.#undeclared(node.at, node.name)
    if (!isStruct) this.#issue(node.at, `'${name}' is not a message type`)
    for (const field of node.fields) {
      const declared = this.#fieldType(field.at, name, field.name) ?? errorType
      const actual = this.#element(field.value, field.optional)
      if (this.#isAssignable(declared, actual)) continue
      this.#issue(
        field.at,
        `expected type of field '${field.name}' is '${printType(declared)}' but provided type is '${printType(actual)}'`,
      )
    }
    return isStruct ? known : errorType
  }

  #comprehension(node: ComprehensionNode): Type {
    this.check(node.range)
    const accumulated = this.#checked(node.init)
    const range = this.#substitutions.apply(this.#types.get(node.range) ?? errorType)
    const [first, second] = this.#iterationTypes(node, range)
    const variables = new Map([[node.iterVar, first]])
    if (node.iterVar2 !== undefined) variables.set(node.iterVar2, second)
    const outer = this.#scopes
    this.#scopes = [...outer, new Map([[node.accuVar, accumulated]]), variables]
    this.#assert(node.condition, boolType)
    this.#assert(node.step, accumulated)
    this.#scopes = this.#scopes.slice(0, -1)
    const result = this.#checked(node.result)
    this.#scopes = outer
    return this.#substitutions.apply(result)
  }

  #iterationTypes({ range: { at }, iterVar2 }: ComprehensionNode, range: Type): [Type, Type] {
    const types = iterationTypes(range, iterVar2 !== undefined)
    if (types === undefined) {
      const what = `expression of type '${printType(range)}' cannot be range of a comprehension`
      this.#issue(at, `${what} (must be list, map, or dynamic)`)
      return [errorType, errorType]
    }
    this.#isAssignable(dynType, range)
    return types
  }

  #assert(node: Node, expected: Type): void {
    const actual = this.#checked(node)
    if (!this.#isAssignable(expected, actual)) this.#mismatch(node.at, expected, actual)
  }
}
