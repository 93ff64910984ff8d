// Validates the expressions of a policy, or of a webhook's match conditions, when it is written. Other fields are validated by
// the kinds' strategies. Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation.

import { trimSpace } from "../../texts.ts"
import { type FieldError, FieldPath, internalFieldError, invalidValue } from "../../field-errors.ts"
import { type CompiledExpression, compileIn, compileMutation, compileVariables } from "./compile.ts"
import { admissionEnvironment } from "./environment.ts"
import type { NamedExpression, PolicySpec } from "./policy.ts"
import { boolType, nullType, stringType } from "../types/types.ts"

/** Empty expressions are not compiled: that they are required is reported elsewhere. */
function faults(path: FieldPath, shown: string, compile: () => CompiledExpression): FieldError[] {
  if (trimSpace(shown) === "") return []
  const { fault, internal } = compile()
  if (fault === undefined) return []
  return [internal === true ? internalFieldError(path, fault) : invalidValue(path, shown, fault)]
}

/** `params`: the conditions may use params. */
export function matchConditionErrors(
  conditions: readonly NamedExpression[] | undefined,
  path: FieldPath,
  params: boolean,
): FieldError[] {
  const environment = admissionEnvironment({ params, authorizer: true })
  return (conditions ?? []).flatMap(({ expression = "" }, index) =>
    faults(path.index(index).child("expression"), trimSpace(expression), () =>
      compileIn(environment, trimSpace(expression), [boolType]),
    ),
  )
}

export function policyExpressionErrors(spec: PolicySpec, path: FieldPath): FieldError[] {
  const params = spec.paramKind !== undefined
  const named = spec.variables ?? []
  const { compiled, types } = compileVariables(named, params)
  // Without named variables, `variables` is undeclared, except for mutations.
  const known = named.length === 0 ? {} : { variables: types }
  const whole = admissionEnvironment({ params, authorizer: true, ...known })
  const messages = admissionEnvironment({ params, authorizer: false, ...known })
  const patches = admissionEnvironment({ params, authorizer: true, variables: types, patches: true })
  return [
    ...matchConditionErrors(spec.matchConditions, path.child("matchConditions"), params),
    ...compiled.flatMap((variable, index) =>
      faults(path.child("variables").index(index).child("expression"), variable.expression, () => variable),
    ),
    ...(spec.validations ?? []).flatMap(({ expression = "", messageExpression = "" }, index) => {
      const at = path.child("validations").index(index)
      return [
        ...faults(at.child("expression"), expression, () => compileIn(whole, expression, [boolType])),
        ...faults(at.child("messageExpression"), messageExpression, () =>
          compileIn(messages, messageExpression, [stringType]),
        ),
      ]
    }),
    ...(spec.auditAnnotations ?? []).flatMap(({ valueExpression = "" }, index) =>
      faults(path.child("auditAnnotations").index(index).child("valueExpression"), valueExpression, () =>
        compileIn(whole, trimSpace(valueExpression), [stringType, nullType]),
      ),
    ),
    ...(spec.mutations ?? []).flatMap((mutation, index) => {
      const isPatch = mutation.patchType === "JSONPatch"
      const expression = trimSpace((isPatch ? mutation.jsonPatch : mutation.applyConfiguration)?.expression ?? "")
      const trimmed = { ...mutation, [isPatch ? "jsonPatch" : "applyConfiguration"]: { expression } }
      const at = path
        .child("mutations")
        .index(index)
        .child(isPatch ? "jsonPatch" : "applyConfiguration", "expression")
      return faults(at, expression, () => compileMutation(patches, trimmed))
    }),
  ]
}
