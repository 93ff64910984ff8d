// Type-checks the expressions of ValidatingAdmissionPolicies and writes the warnings into their status, as
// k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus does.

import { setImmediate as nextTurn } from "node:timers/promises"
import type { PolicySpec } from "../../apimachinery/cel/admission/policy.ts"
import { typeWarnings } from "../../apimachinery/cel/admission/type-check.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { inSteps } from "../../apimachinery/steps.ts"
import { validatingAdmissionPolicies } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { kindsOf, paramType } from "./policy-kinds.ts"

interface Policy extends KubeObject {
  spec?: PolicySpec
  status?: { observedGeneration?: number }
}

const manager = "validatingadmissionpolicy-status"

function isChecked({ metadata, status }: Policy): boolean {
  return (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
}

export function runAdmissionPolicyStatus(ctx: ControllerContext): Promise<void> {
  const policies = ctx.informers.of<Policy>(validatingAdmissionPolicies)
  const controller = new Controller<Policy>(ctx, {
    name: manager,
    primary: policies,
    concerns: (policy) => !isChecked(policy),
  })
  return controller.run(async ({ tenant, name }: Key, actor) => {
    const policy = policies.get(tenant, undefined, name)
    if (policy === undefined || isChecked(policy)) return
    const client = actor.client
    const spec = policy.spec ?? {}
    const [kinds, params] = [await kindsOf(client, spec), await paramType(client, spec)]
    const checking = typeWarnings(spec, kinds, params, spec.paramKind !== undefined)
    const expressionWarnings = await inSteps(checking, () => nextTurn())
    const { apiVersion, kind, metadata } = policy
    const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings }
    const status = { observedGeneration: metadata.generation ?? 0, typeChecking }
    await client.patch<Policy>(
      validatingAdmissionPolicies,
      undefined,
      name,
      { apiVersion, kind, metadata: { name }, status },
      { type: "apply", subresource: "status", force: true, fieldManager: manager },
    )
  })
}
