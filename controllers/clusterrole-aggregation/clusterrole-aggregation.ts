// ClusterRoles made of others: those with an aggregationRule have the rules of all roles its selectors match.
// Facts: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.

import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { ClusterRole } from "../../apimachinery/object.ts"
import { clusterRoles } from "../../client/resources.ts"
import { bornVersion } from "../../client/tenants.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { canonical } from "../template-hash.ts"

export function runClusterRoleAggregation(ctx: ControllerContext): Promise<void> {
  const roles = ctx.informers.of<ClusterRole>(clusterRoles)
  const isAggregate = (role: ClusterRole): boolean => role.aggregationRule !== undefined
  const controller = new Controller<ClusterRole>(ctx, {
    name: "clusterrole-aggregation",
    primary: roles,
    concerns: isAggregate,
  })
  // Any role's change may change any aggregate; there are few of these.
  const enqueueAggregates = (tenant: string): void => {
    if (!roles.isSynced(tenant)) return // all are looked at then
    for (const role of roles.list(tenant)) if (isAggregate(role)) controller.enqueueObject(tenant, role)
  }
  roles.subscribe({ added: enqueueAggregates, updated: enqueueAggregates, deleted: enqueueAggregates })
  return controller.run(async ({ tenant, name }: Key) => {
    const role = roles.get(tenant, undefined, name)
    const selectors = role?.aggregationRule?.clusterRoleSelectors
    if (role === undefined || selectors === undefined) return
    // A control plane is born with its aggregates complete.
    if (roles.list(tenant).every(({ metadata }) => metadata.resourceVersion === bornVersion)) return
    const rules = rulesOf(role, roles.list(tenant), selectors.map(selectorFromLabelSelector))
    if (equalButNulls(rules, role.rules ?? [])) return
    // Applied, so that rules that are none of its own stay while it has none to give.
    const given = rules.length === 0 ? {} : { rules }
    const applied = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, ...given }
    const options = { type: "apply" as const, fieldManager: "clusterrole-aggregation-controller", force: true }
    await controller.client(tenant).patch(clusterRoles, undefined, name, applied, options)
  })
}

/** In order of the selectors, then of the roles' names; each rule once. */
function rulesOf(
  role: ClusterRole,
  all: readonly ClusterRole[],
  selectors: readonly Parameters<typeof matches>[0][],
): NonNullable<ClusterRole["rules"]> {
  const sorted = [...all].sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
  const rules = new Map<string, NonNullable<ClusterRole["rules"]>[number]>()
  for (const selector of selectors) {
    for (const other of sorted) {
      if (other.metadata.name === role.metadata.name || !matches(selector, other.metadata.labels ?? {})) continue
      for (const rule of other.rules ?? []) {
        const id = canonical(rule)
        if (!rules.has(id)) rules.set(id, rule)
      }
    }
  }
  return [...rules.values()]
}
