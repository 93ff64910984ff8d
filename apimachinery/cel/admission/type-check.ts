// Type checks a policy's expressions against the schemas of the matched kinds, and returns warnings: admission itself treats
// objects as dyn. Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go.

import type { GroupVersionKind } from "../../object.ts"
import type { Steps } from "../../steps.ts"
import { type DeclaredType, declaredTypes, typeOfDeclared } from "../types/declared-type.ts"
import type { Environment } from "../types/environment.ts"
import { compileExpression } from "../program.ts"
import type { Type } from "../types/types.ts"
import { admissionEnvironment, variableType } from "./environment.ts"
import type { NamedExpression, PolicySpec } from "./policy.ts"

export interface TypedKind extends GroupVersionKind {
  /** Undefined: nothing is known, so everything is allowed. */
  declared: DeclaredType | undefined
}

interface ExpressionWarning {
  fieldRef: string
  warning: string
}

/** `params`: the type named by paramKind; undefined if the policy has none. A step compiles one expression. */
export function* typeWarnings(
  { validations = [], variables = [] }: PolicySpec,
  kinds: readonly TypedKind[],
  params: DeclaredType | undefined,
  hasParams: boolean,
): Steps<ExpressionWarning[]> {
  const environments: (readonly [TypedKind, Environment])[] = []
  for (const kind of kinds) environments.push([kind, yield* environmentFor(kind, variables, params, hasParams)])
  const warnings: ExpressionWarning[] = []
  for (const [index, { expression = "", messageExpression = "" }] of validations.entries()) {
    for (const [field, text] of Object.entries({ expression, messageExpression })) {
      if (field === "messageExpression" && text === "") continue
      const issues: string[] = []
      for (const [kind, environment] of environments) {
        const { issues: found } = compileExpression(text, environment)
        if (found !== undefined) issues.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${found}\n`)
        yield
      }
      if (issues.length > 0)
        warnings.push({ fieldRef: `spec.validations[${index}].${field}`, warning: issues.join("\n") })
    }
  }
  return warnings
}

function* environmentFor(
  { kind, declared }: TypedKind,
  variables: readonly NamedExpression[],
  params: DeclaredType | undefined,
  hasParams: boolean,
): Steps<Environment> {
  const [object, paramsName] = [rootName(kind), rootName("params")]
  const roots = new Map<string, DeclaredType>()
  if (declared !== undefined) roots.set(object, declared)
  if (params !== undefined) roots.set(paramsName, params)
  const types = new Map<string, Type>()
  const environment = (): Environment =>
    withoutRequestResource(
      admissionEnvironment({
        params: hasParams,
        authorizer: true,
        variables: types,
        more: declaredTypes(roots),
        ...(declared === undefined ? {} : { object: typeOfDeclared(declared, object) }),
        ...(params === undefined ? {} : { paramsType: typeOfDeclared(params, paramsName) }),
      }),
    )
  for (const { name, expression = "" } of variables) {
    types.set(name, variableType(compileExpression(expression, environment()).program?.type))
    yield
  }
  return environment()
}

/** A unique type name; the types of fields are named by their paths below it. */
function rootName(kind: string): string {
  return `${kind}0`
}

/** Upstream does not declare it for type checking. */
function withoutRequestResource(environment: Environment): Environment {
  const variables = new Map(environment.variables)
  variables.delete("authorizer.requestResource")
  return { ...environment, variables }
}
