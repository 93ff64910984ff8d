// Validates the expressions of a policy, or of a webhook's match conditions, when it is written. Other fields are validated by
// the kinds' strategies. Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation.

import { trimSpace } from "../../texts.ts"
import { type FieldError, FieldPath, internalFieldError, invalidValue } from "../../field-errors.ts"
import type { Steps } from "../../steps.ts"
import { type CompiledExpression, compileIn, compileMutation, compileVariable } from "./compile.ts"
import { admissionEnvironment } from "./environment.ts"
import type { NamedExpression, PolicySpec } from "./policy.ts"
import { boolType, nullType, stringType, type Type } from "../types/types.ts"

/** Empty expressions are not compiled: that they are required is reported elsewhere. */
function faults(path: FieldPath, shown: string, compile: () => CompiledExpression): FieldError[] {
  if (trimSpace(shown) === "") return []
  const { fault, internal } = compile()
  if (fault === undefined) return []
  return [internal === true ? internalFieldError(path, fault) : invalidValue(path, shown, fault)]
}

/** `params`: the conditions may use params. A step compiles one. */
export function* checkingMatchConditions(
  conditions: readonly NamedExpression[] | undefined,
  path: FieldPath,
  params: boolean,
): Steps<FieldError[]> {
  const environment = admissionEnvironment({ params, authorizer: true })
  return yield* checkingEach(conditions ?? [], path, ({ expression = "" }, at) =>
    faults(at.child("expression"), trimSpace(expression), () =>
      compileIn(environment, trimSpace(expression), [boolType]),
    ),
  )
}

/** A step compiles what one variable, validation, annotation or mutation has. */
export function* checkingPolicyExpressions(spec: PolicySpec, path: FieldPath): Steps<FieldError[]> {
  const params = spec.paramKind !== undefined
  const named = spec.variables ?? []
  const types = new Map<string, Type>()
  const ofVariables = yield* checkingEach(named, path.child("variables"), (variable, at) => {
    const compiled = compileVariable(variable, types, params)
    return faults(at.child("expression"), compiled.expression, () => compiled)
  })
  // Without named variables, `variables` is undeclared, except for mutations.
  const known = named.length === 0 ? {} : { variables: types }
  const whole = admissionEnvironment({ params, authorizer: true, ...known })
  const messages = admissionEnvironment({ params, authorizer: false, ...known })
  const patches = admissionEnvironment({ params, authorizer: true, variables: types, patches: true })
  const { validations = [], auditAnnotations = [], mutations = [] } = spec
  return [
    ...(yield* checkingMatchConditions(spec.matchConditions, path.child("matchConditions"), params)),
    ...ofVariables,
    ...(yield* checkingEach(
      validations,
      path.child("validations"),
      ({ expression = "", messageExpression = "" }, at) => [
        ...faults(at.child("expression"), expression, () => compileIn(whole, expression, [boolType])),
        ...faults(at.child("messageExpression"), messageExpression, () =>
          compileIn(messages, messageExpression, [stringType]),
        ),
      ],
    )),
    ...(yield* checkingEach(auditAnnotations, path.child("auditAnnotations"), ({ valueExpression = "" }, at) =>
      faults(at.child("valueExpression"), valueExpression, () =>
        compileIn(whole, trimSpace(valueExpression), [stringType, nullType]),
      ),
    )),
    ...(yield* checkingEach(mutations, path.child("mutations"), (mutation, at) => {
      const isPatch = mutation.patchType === "JSONPatch"
      const expression = trimSpace((isPatch ? mutation.jsonPatch : mutation.applyConfiguration)?.expression ?? "")
      const field = isPatch ? "jsonPatch" : "applyConfiguration"
      const trimmed = { ...mutation, [field]: { expression } }
      return faults(at.child(field, "expression"), expression, () => compileMutation(patches, trimmed))
    })),
  ]
}

function* checkingEach<T>(
  items: readonly T[],
  path: FieldPath,
  check: (item: T, at: FieldPath) => FieldError[],
): Steps<FieldError[]> {
  const errors: FieldError[] = []
  for (const [index, item] of items.entries()) {
    errors.push(...check(item, path.index(index)))
    yield
  }
  return errors
}
