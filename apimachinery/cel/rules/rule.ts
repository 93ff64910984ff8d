// The x-kubernetes-validations of a schema, in source and compiled form. Source:
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go.

import type { Steps } from "../../steps.ts"
import { trimSpace } from "../../texts.ts"
import type { Json } from "../../object.ts"
import { isObject, type JsonObject } from "../../schema/json-object.ts"
import { childrenOf, type Node } from "../syntax/ast.ts"
import type { CheckedTree } from "../types/checked-tree.ts"
import { estimateCost } from "../cost/cost.ts"
import { type DeclaredType, declaredTypes, maxRequestBytes, sizesOf, typeOfDeclared } from "../types/declared-type.ts"
import type { Environment } from "../types/environment.ts"
import { compileExpression, type Program } from "../program.ts"
import { optionalType } from "../types/types.ts"
import { normalFieldPath } from "./field-path.ts"

export interface Rule {
  rule: string
  message: string
  messageExpression: string
  reason: string | undefined
  fieldPath: string
  optionalOldSelf: boolean | undefined
}

export interface CompiledRule {
  source: Rule
  /** Absent if there is a fault, and for an empty rule. */
  program?: Program
  usesOldSelf: boolean
  /** The fault in upstream's words. */
  fault?: string
  maxCost: number
  messageProgram?: Program
  messageFault?: string
  maxMessageCost: number
  /** Appended to the path of the invalid value. */
  fieldPath: string
}

export function hasOwnRules({ "x-kubernetes-validations": rules }: JsonObject): boolean {
  return Array.isArray(rules) && rules.some(isObject)
}

export function rulesOf(schema: JsonObject): Rule[] {
  const rules = schema["x-kubernetes-validations"]
  return Array.isArray(rules) ? rules.filter(isObject).map(readRule) : []
}

function readRule(rule: JsonObject): Rule {
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")
  const optional = rule["optionalOldSelf"]
  return {
    rule: text(rule["rule"]),
    message: text(rule["message"]),
    messageExpression: text(rule["messageExpression"]),
    reason: typeof rule["reason"] === "string" ? rule["reason"] : undefined,
    fieldPath: text(rule["fieldPath"]),
    optionalOldSelf: typeof optional === "boolean" ? optional : undefined,
  }
}

/** The name of the types below self in messages. */
const selfType = "selfType"

/** A step compiles one rule. */
export function* compilingRules(schema: JsonObject, declared: DeclaredType): Steps<CompiledRule[]> {
  const compile = ruleCompiler(schema, declared)
  const compiled: CompiledRule[] = []
  for (const rule of rulesOf(schema)) {
    compiled.push(compile(rule))
    yield
  }
  return compiled
}

/** Compiles rules of the schema, whose declared type is this. */
export function ruleCompiler(schema: JsonObject, declared: DeclaredType): (rule: Rule) => CompiledRule {
  const type = typeOfDeclared(declared, selfType)
  const types = declaredTypes(new Map([[selfType, declared]]))
  const environment = (optional: boolean): Environment => ({
    variables: new Map([
      ["self", type],
      ["oldSelf", optional ? optionalType(type) : type],
    ]),
    types,
  })
  const [plain, optional] = [environment(false), environment(true)]
  const sizes = sizesOf(declared)
  const costOf = (checked: CheckedTree): number => estimateCost(checked, sizes).max
  return (rule) => compileRule(rule, schema, rule.optionalOldSelf === true ? optional : plain, costOf)
}

function compileRule(
  source: Rule,
  schema: JsonObject,
  environment: Environment,
  costOf: (checked: CheckedTree) => number,
): CompiledRule {
  const compiled: CompiledRule = { source, usesOldSelf: false, maxCost: 0, maxMessageCost: 0, fieldPath: "" }
  if (trimSpace(source.rule) === "") return compiled
  const { program, type, issues, fault, checked } = compileExpression(source.rule, environment)
  if (issues !== undefined) return { ...compiled, fault: `compilation failed: ${issues}` }
  if (type.kind !== "bool") return { ...compiled, fault: "cel expression must evaluate to a bool" }
  if (program === undefined) return { ...compiled, fault: `program instantiation failed: ${fault}` }
  compiled.program = program
  compiled.usesOldSelf = speaksOf(checked, "oldSelf")
  compiled.maxCost = costOf(checked)
  if (source.messageExpression !== "")
    Object.assign(compiled, compileMessage(source.messageExpression, environment, costOf))
  if (source.fieldPath !== "" && compiled.messageFault === undefined) {
    compiled.fieldPath = normalFieldPath(source.fieldPath, schema) ?? ""
  }
  return compiled
}

function compileMessage(
  source: string,
  environment: Environment,
  costOf: (checked: CheckedTree) => number,
): Partial<CompiledRule> {
  const { program, type, issues, fault, checked } = compileExpression(source, environment)
  if (issues !== undefined) return { messageFault: `messageExpression compilation failed: ${issues}` }
  if (type.kind !== "string") return { messageFault: "messageExpression must evaluate to a string" }
  if (program === undefined) return { messageFault: `messageExpression instantiation failed: ${fault}` }
  return { messageProgram: program, maxMessageCost: costOf(checked) }
}

function speaksOf(checked: CheckedTree, variable: string): boolean {
  const visit = (node: Node): boolean => {
    const reference = checked.references.get(node)
    return (reference?.kind === "variable" && reference.name === variable) || childrenOf(node).some(visit)
  }
  return visit(checked.tree)
}

/** The maximum number of such values in one request. */
export function maxCardinality({ minSize }: DeclaredType): number {
  return Math.trunc(maxRequestBytes / (minSize + 1))
}
