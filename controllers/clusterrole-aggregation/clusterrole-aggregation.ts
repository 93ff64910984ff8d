// Aggregated ClusterRoles: a role with an aggregationRule has the rules of all roles that its selectors match.
// Source: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.

import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { ClusterRole } from "../../apimachinery/object.ts"
import { clusterRoles } from "../../client/resources.ts"
import { bornVersion } from "../../client/tenants.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { canonical } from "../template-hash.ts"

export function runClusterRoleAggregation(ctx: ControllerContext): Promise<void> {
  const roles = ctx.informers.of<ClusterRole>(clusterRoles)
  const isAggregate = (role: ClusterRole): boolean => role.aggregationRule !== undefined
  const controller = new Controller<ClusterRole>(ctx, {
    name: "clusterrole-aggregation",
    primary: roles,
    concerns: isAggregate,
  })
  // A change of any role may affect any aggregated role; there are few of these.
  const enqueueAggregates = (tenant: string): void => {
    if (!roles.isSynced(tenant)) return // all roles are enqueued at synced
    for (const role of roles.list(tenant)) if (isAggregate(role)) controller.enqueueObject(tenant, role)
  }
  roles.subscribe({ added: enqueueAggregates, updated: enqueueAggregates, deleted: enqueueAggregates })
  return controller.run(async ({ tenant, name }: Key, actor) => {
    const role = roles.get(tenant, undefined, name)
    const selectors = role?.aggregationRule?.clusterRoleSelectors
    if (role === undefined || selectors === undefined) return
    // A new control plane already has complete aggregated roles.
    if (roles.list(tenant).every(({ metadata }) => metadata.resourceVersion === bornVersion)) return
    const rules = rulesOf(role, roles.list(tenant), selectors.map(selectorFromLabelSelector))
    if (equalIgnoringNulls(rules, role.rules ?? [])) return
    // Applied, so that rules of other managers remain while this controller has none. To no other of the name: a role that was deleted
    // meanwhile must not be made again.
    const { uid } = role.metadata
    const given = rules.length === 0 ? {} : { rules }
    const applied = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name, uid },
      ...given,
    }
    const options = { type: "apply" as const, fieldManager: "clusterrole-aggregation-controller", force: true }
    await actor.client.patch(clusterRoles, undefined, name, applied, options)
  })
}

/** Ordered by selector and then by role name; without duplicates. */
export function rulesOf(
  role: ClusterRole,
  all: readonly ClusterRole[],
  selectors: readonly Parameters<typeof matches>[0][],
): NonNullable<ClusterRole["rules"]> {
  let others = all.filter(({ metadata }) => metadata.name !== role.metadata.name)
  others.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
  const rules = new Map<string, NonNullable<ClusterRole["rules"]>[number]>()
  for (const selector of selectors) {
    // What an earlier selector has matched adds nothing: a body has room for thousands of selectors, and for thousands of rules.
    const { true: found = [], false: left = [] } = Object.groupBy(others, ({ metadata }) =>
      matches(selector, metadata.labels ?? {}) ? "true" : "false",
    )
    others = left
    for (const rule of found.flatMap((other) => other.rules ?? [])) {
      const id = canonical(rule)
      if (!rules.has(id)) rules.set(id, rule)
    }
  }
  return [...rules.values()]
}
