// Prevents privilege escalation: users can grant only permissions that they have. Called for roles and bindings on create and update.
// Source: k8s.io/kubernetes/pkg/registry/rbac and pkg/registry/rbac/validation.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { goQuote, goQuoteList } from "../../apimachinery/go/quote.ts"
import { validatePathSegmentName } from "../../apimachinery/names.ts"
import { badRequest, forbidden, notFound, notFoundMessage, unexplained } from "../../apimachinery/status.ts"
import type { RequestContext } from "../request/context.ts"
import { isAllowed } from "./further-rights.ts"
import { compactRules, covers, printRule } from "./rules.ts"
import { aggregateMessage } from "../../apimachinery/error-message.ts"
import type { PolicyRule, RoleReference } from "./types.ts"

const group = "rbac.authorization.k8s.io"

/** All permissions. */
export const fullAuthority: readonly PolicyRule[] = [
  { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
  { nonResourceURLs: ["*"], verbs: ["*"] },
]

/** For roles and cluster roles. Throws Forbidden. The verb "escalate" on the role permits it. */
export async function confirmRoleGrants(
  ctx: RequestContext,
  role: {
    resource: "roles" | "clusterroles"
    namespace: string
    name: string
    rules: readonly PolicyRule[]
    /** It has or had a rule by which a controller collects rules of other roles, which may be any. */
    aggregates?: boolean
  },
): Promise<void> {
  if (isMaster(ctx)) return
  const { resource, namespace, name, aggregates = false } = role
  if (ctx.info.isResourceRequest && ctx.info.resource === resource && ctx.info.group === group) {
    if (await isAllowed(ctx, { verb: "escalate", group, resource, namespace, name: ctx.info.name })) return
  }
  const missing = await missingRules(ctx, role.rules, namespace)
  if (missing !== undefined) throw forbidden({ group, resource }, name, missing)
  if (aggregates && (await missingRules(ctx, fullAuthority, namespace)) !== undefined)
    throw forbidden({ group, resource }, name, "must have cluster-admin privileges to use the aggregationRule")
}

/**
 * For role bindings and cluster role bindings, which may be invalid. Throws Forbidden, or why there can be no such role. The verb "bind"
 * on the referenced role permits it.
 */
export async function confirmBindingGrants(
  ctx: RequestContext,
  binding: {
    resource: "rolebindings" | "clusterrolebindings"
    namespace: string
    name: string
    roleRef: Partial<RoleReference & { apiGroup: string }>
  },
): Promise<void> {
  if (isMaster(ctx)) return
  const { resource, namespace, name, roleRef } = binding
  const reference = { kind: roleRef.kind ?? "", name: roleRef.name ?? "" }
  const referenced = roleResources[reference.kind]
  if (referenced === undefined) throw unexplained(`unsupported role reference kind: ${goQuote(reference.kind)}`)
  const bound = { group: roleRef.apiGroup ?? group, resource: referenced, namespace, name: reference.name }
  if (await isAllowed(ctx, { verb: "bind", ...bound })) return
  checkReference(reference, namespace)
  const rules = await ctx.controlPlane.authorizer.rulesOf(reference, namespace)
  // As upstream, here and below, a missing role is named as if it were what the request is for.
  if (rules === undefined) throw notFound(ctx.info, reference.name)
  const missing = await missingRules(ctx, rules, namespace)
  if (missing !== undefined) throw forbidden({ group, resource }, name, missing)
}

const roleResources: Readonly<Record<string, string>> = dictionary({ Role: "roles", ClusterRole: "clusterroles" })

/** Source: k8s.io/apiserver/pkg/registry/generic/registry/store.go (NamespaceKeyFunc). */
function checkReference({ kind, name }: RoleReference, namespace: string): void {
  if (kind === "Role" && namespace === "") throw badRequest("Namespace parameter required.")
  if (name === "") throw badRequest("Name parameter required.")
  const faults = validatePathSegmentName(name)
  if (faults.length > 0) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${faults.join(";")}`)
}

/** Returns undefined if the user has all permissions, otherwise upstream's message. */
async function missingRules(
  ctx: RequestContext,
  rules: readonly PolicyRule[],
  namespace: string,
): Promise<string | undefined> {
  const { user } = ctx
  const held = await ctx.controlPlane.authorizer.rulesFor(user, namespace)
  const missing = covers(held.rules, rules)
  if (missing.length === 0) return undefined
  const list = [...new Set(compactRules(missing).map(printRule))].sort().join("\n")
  const groups = goQuoteList(user.groups)
  const errors = aggregateMessage(held.missing.map(({ name }) => notFoundMessage(ctx.info, name)))
  const resolution = errors === "" ? "" : `; resolution errors: [${errors}]`
  return `user ${goQuote(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${list}${resolution}`
}

/** Members of system:masters have all permissions, although no rules contain them. */
function isMaster(ctx: RequestContext): boolean {
  return ctx.user.groups.includes("system:masters")
}
