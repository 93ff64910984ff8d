// Compiles the expressions of policies: once for all policies with the same text, of any tenant. Source:
// k8s.io/apiserver/pkg/admission/plugin/cel/{compile,composition}.go.

import { trimSpace } from "../../texts.ts"
import type { Environment } from "../types/environment.ts"
import { compileExpression, type Program } from "../program.ts"
import { CompiledTexts } from "./compiled-texts.ts"
import {
  boolType,
  listType,
  nullType,
  sameType,
  stringType,
  structType,
  printGoType,
  type Type,
} from "../types/types.ts"
import { admissionEnvironment, variableType } from "./environment.ts"
import type { Mutation, NamedExpression, PolicySpec } from "./policy.ts"

export interface CompiledExpression {
  expression: string
  /** Absent if there is a fault. */
  program?: Program
  fault?: string
  /** Upstream reports the fault as an internal error. */
  internal?: boolean
}

export interface CompiledPolicy {
  variables: ReadonlyMap<string, CompiledExpression>
  matchConditions: readonly (CompiledExpression & { name: string })[]
  validations: readonly CompiledExpression[]
  /** By index of the validations; undefined for those without one. */
  messages: readonly (CompiledExpression | undefined)[]
  auditAnnotations: readonly CompiledExpression[]
  mutations: readonly CompiledExpression[]
}

const texts = [stringType]
const textOrNull = [stringType, nullType]

/** `types`: the allowed result types; empty: any. */
export function compileIn(environment: Environment, expression: string, types: readonly Type[]): CompiledExpression {
  const { program, type: found, issues, fault } = compileExpression(expression, environment)
  if (issues !== undefined) return { expression, fault: `compilation failed: ${issues}` }
  if (types.length > 0 && !types.some((type) => sameType(type, found))) {
    const [only] = types
    const wanted =
      types.length === 1 && only !== undefined ? printGoType(only) : `one of [${types.map(printGoType).join(" ")}]`
    return { expression, fault: `must evaluate to ${wanted} but got ${printGoType(found)}` }
  }
  return program === undefined
    ? { expression, fault: `program instantiation failed: ${fault}`, internal: true }
    : { expression, program }
}

/** Characters of the cached policies and conditions each: what they are compiled to is ten times as large. */
const keptCharacters = 4 * 1024 * 1024
const kept = new CompiledTexts<CompiledPolicy>(keptCharacters)
const keptConditions = new CompiledTexts<CompiledExpression>(keptCharacters)

export function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const { paramKind, matchConditions, variables, validations, auditAnnotations, mutations } = spec
  const params = paramKind !== undefined
  const text = JSON.stringify({ params, matchConditions, variables, validations, auditAnnotations, mutations })
  return kept.of(text, () => compileAll(spec, params))
}

function compileAll(spec: PolicySpec, params: boolean): CompiledPolicy {
  const { matchConditions = [], validations = [], auditAnnotations = [], mutations = [] } = spec
  const variables = spec.variables ?? []
  const { compiled, types } = compileVariables(variables, params)
  const whole = admissionEnvironment({ params, authorizer: true, variables: types })
  const messages = admissionEnvironment({ params, authorizer: false, variables: types })
  const patches = admissionEnvironment({ params, authorizer: true, variables: types, patches: true })
  return {
    variables: new Map(compiled.map((one, index) => [variables[index]?.name ?? "", one])),
    matchConditions: matchConditions.map(({ name, expression = "" }) => ({
      name,
      ...compileIn(whole, expression, [boolType]),
    })),
    validations: validations.map(({ expression = "" }) => compileIn(whole, expression, [boolType])),
    messages: validations.map(({ messageExpression }) =>
      messageExpression ? compileIn(messages, messageExpression, texts) : undefined,
    ),
    auditAnnotations: auditAnnotations.map(({ valueExpression = "" }) => compileIn(whole, valueExpression, textOrNull)),
    mutations: mutations.map((mutation) => compileMutation(patches, mutation)),
  }
}

/** In their order; each may use the previous ones. Variables without an expression are ignored. */
export function compileVariables(
  variables: readonly NamedExpression[],
  params: boolean,
): { compiled: CompiledExpression[]; types: Map<string, Type> } {
  const types = new Map<string, Type>()
  const compiled = variables.map(({ name, expression = "" }) => {
    const one = compileIn(admissionEnvironment({ params, authorizer: true, variables: types }), expression, [])
    if (trimSpace(expression) !== "") types.set(name, variableType(one.program?.type))
    return one
  })
  return { compiled, types }
}

export function compileMutation(
  environment: Environment,
  { patchType, jsonPatch, applyConfiguration }: Mutation,
): CompiledExpression {
  return patchType === "JSONPatch"
    ? compileIn(environment, jsonPatch?.expression ?? "", [listType(structType("JSONPatch"))])
    : compileIn(environment, applyConfiguration?.expression ?? "", [structType("Object")])
}

/** A match condition of a webhook: without variables and params. */
export function compileMatchCondition(expression: string): CompiledExpression {
  return keptConditions.of(expression, () =>
    compileIn(admissionEnvironment({ params: false, authorizer: true }), expression, [boolType]),
  )
}
