// SelfSubjectRulesReview: the rules that apply to the caller in a namespace (kubectl auth can-i --list).

import type { KubeObject } from "../../../apimachinery/object.ts"
import { badRequest } from "../../../apimachinery/status.ts"
import { nodeOfUser } from "../../authorization/node-identity.ts"
import { aggregateMessage } from "../../../apimachinery/error-message.ts"
import { missingRole } from "../../authorization/rbac.ts"
import type { PolicyRule } from "../../authorization/types.ts"
import type { KindExtension } from "../strategy.ts"

type Review = KubeObject & { spec?: { namespace?: string } }

export const selfSubjectRulesReviews: KindExtension = {
  async answer(ctx, object, _options, validate) {
    const namespace = (object as Review).spec?.namespace ?? ""
    if (namespace === "") throw badRequest("no namespace on request")
    await validate()
    const { rules, missing, isIncomplete = false } = await ctx.controlPlane.authorizer.rulesFor(ctx.user, namespace)
    // What a node may do depends on the pods that it runs.
    const isNode = nodeOfUser(ctx.user) !== undefined
    const errors = missing.map(missingRole)
    if (isIncomplete) errors.unshift("there are more rules than can be listed")
    if (isNode) errors.unshift("node authorizer does not support user rule resolution")
    const status: Record<string, unknown> = {
      resourceRules: rules.filter((rule) => (rule.nonResourceURLs ?? []).length === 0).map(resourceRule),
      nonResourceRules: rules
        .filter((rule) => (rule.nonResourceURLs ?? []).length > 0)
        .map(({ verbs = [], nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      // Missing roles do not make it incomplete: they grant nothing.
      incomplete: isNode || isIncomplete,
    }
    if (errors.length > 0) status["evaluationError"] = aggregateMessage(errors)
    // Upstream's response does not contain the request's spec.
    return { ...object, metadata: {}, spec: {}, status }
  },
}

function resourceRule({ verbs = [], apiGroups = [], resources = [], resourceNames }: PolicyRule): object {
  return { verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) }
}
