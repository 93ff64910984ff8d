// Compiles the expressions of policies: once for all policies with the same text, of any tenant. Source:
// k8s.io/apiserver/pkg/admission/plugin/cel/{compile,composition}.go.

import { SharedSteps, type Steps } from "../../steps.ts"
import { trimSpace } from "../../texts.ts"
import type { Environment } from "../types/environment.ts"
import { compileExpression, type Program } from "../program.ts"
import { CompiledTexts, type Kept } from "../compiled-texts.ts"
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

/** Characters of the cached policies and conditions each: what they are compiled to is up to seventy times as large. */
const keptCharacters = 4 * 1024 * 1024
const kept = new CompiledTexts<SharedSteps<CompiledPolicy>>(keptCharacters)
const keptConditions = new CompiledTexts<CompiledExpression>(keptCharacters)

/** What the expressions of a policy depend on. */
type PolicyText = Required<
  Pick<PolicySpec, "matchConditions" | "variables" | "validations" | "auditAnnotations" | "mutations">
> & { params: boolean }

/** A step compiles one expression. */
export function policyCompilation(spec: PolicySpec): Kept<SharedSteps<CompiledPolicy>> {
  const { matchConditions = [], variables = [], validations = [], auditAnnotations = [], mutations = [] } = spec
  const params = spec.paramKind !== undefined
  const policy = { params, matchConditions, variables, validations, auditAnnotations, mutations }
  return kept.keeping(JSON.stringify(policy), () => new SharedSteps(() => compilingAll(policy)))
}

/** Of what policyCompilation() has returned. */
export function useCompilation(compilation: Kept<SharedSteps<CompiledPolicy>>): SharedSteps<CompiledPolicy> {
  return kept.use(compilation)
}

function* compilingAll(policy: PolicyText): Steps<CompiledPolicy> {
  const { params, matchConditions, variables, validations, auditAnnotations, mutations } = policy
  const { compiled, types } = yield* compilingVariables(variables, params)
  const whole = admissionEnvironment({ params, authorizer: true, variables: types })
  const messages = admissionEnvironment({ params, authorizer: false, variables: types })
  const patches = admissionEnvironment({ params, authorizer: true, variables: types, patches: true })
  return {
    variables: new Map(compiled.map((one, index) => [variables[index]?.name ?? "", one])),
    matchConditions: yield* each(matchConditions, ({ name, expression = "" }) => ({
      name,
      ...compileIn(whole, expression, [boolType]),
    })),
    validations: yield* each(validations, ({ expression = "" }) => compileIn(whole, expression, [boolType])),
    messages: yield* each(validations, ({ messageExpression }) =>
      messageExpression ? compileIn(messages, messageExpression, texts) : undefined,
    ),
    auditAnnotations: yield* each(auditAnnotations, ({ valueExpression = "" }) =>
      compileIn(whole, valueExpression, textOrNull),
    ),
    mutations: yield* each(mutations, (mutation) => compileMutation(patches, mutation)),
  }
}

function* each<T, R>(items: readonly T[], compile: (item: T) => R): Steps<R[]> {
  const compiled: R[] = []
  for (const item of items) {
    compiled.push(compile(item))
    yield
  }
  return compiled
}

interface CompiledVariables {
  compiled: CompiledExpression[]
  types: Map<string, Type>
}

/** In their order; each may use the previous ones. Variables without an expression are ignored. */
export function* compilingVariables(variables: readonly NamedExpression[], params: boolean): Steps<CompiledVariables> {
  const types = new Map<string, Type>()
  const compiled = yield* each(variables, (variable) => compileVariable(variable, types, params))
  return { compiled, types }
}

/** `types`: those of the previous variables; that of this one is added. */
export function compileVariable(
  { name, expression = "" }: NamedExpression,
  types: Map<string, Type>,
  params: boolean,
): CompiledExpression {
  const one = compileIn(admissionEnvironment({ params, authorizer: true, variables: types }), expression, [])
  if (trimSpace(expression) !== "") types.set(name, variableType(one.program?.type))
  return one
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
