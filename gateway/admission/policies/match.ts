// Determines whether a policy or a binding matches a request, and in which version of its resource. Source:
// k8s.io/apiserver/pkg/admission/plugin/policy/{generic,matching}.

import type { MatchResources, NamedRule } from "../../../apimachinery/cel/admission/policy.ts"
import { selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes } from "../chain.ts"
import type { Hook, WebhookRule } from "../webhooks/configuration.ts"
import { isExempt, matchHook } from "../webhooks/match.ts"

/** Reviews are answered and never stored; policies for them could lock out all users. */
const reviews: ReadonlySet<string> = new Set([
  "authentication.k8s.io/selfsubjectreviews",
  "authentication.k8s.io/tokenreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "authorization.k8s.io/subjectaccessreviews",
])

/** Requests that policies do not apply to. */
export function isBeyondPolicies(attributes: AdmissionAttributes): boolean {
  return isExempt(attributes) || reviews.has(`${attributes.resource.group}/${attributes.resource.resource}`)
}

const everything: WebhookRule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*", "*"] }

/** The version in which expressions see the object, or undefined if the request does not match. */
export async function matchResources(
  ctx: RequestContext,
  wanted: MatchResources,
  attributes: AdmissionAttributes,
): Promise<ResourceDefinition | undefined> {
  const { resourceRules = [], excludeResourceRules = [] } = wanted
  const rules = resourceRules.length === 0 ? [everything] : named(resourceRules, attributes)
  const found = await matchHook(ctx, asHook(wanted, rules), attributes)
  if (found === undefined || excludeResourceRules.length === 0) return found
  const { matchPolicy } = wanted
  const excluding = asHook(matchPolicy === undefined ? {} : { matchPolicy }, named(excludeResourceRules, attributes))
  return (await matchHook(ctx, excluding, attributes)) === undefined ? found : undefined
}

/** Rules for all names or for this one. */
function named(rules: readonly NamedRule[], { name }: AdmissionAttributes): WebhookRule[] {
  return rules.filter(({ resourceNames = [] }) => resourceNames.length === 0 || resourceNames.includes(name))
}

function asHook({ namespaceSelector, objectSelector, matchPolicy }: MatchResources, rules: WebhookRule[]): Hook {
  return {
    id: "",
    configuration: "",
    webhook: { name: "", clientConfig: {}, rules, ...(matchPolicy === undefined ? {} : { matchPolicy }) },
    namespaceSelector: selectorFromLabelSelector(namespaceSelector ?? {}),
    objectSelector: selectorFromLabelSelector(objectSelector ?? {}),
  }
}
