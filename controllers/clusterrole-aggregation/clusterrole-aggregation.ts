// Aggregated ClusterRoles: a role with an aggregationRule has the rules of all roles that its selectors match.
// Source: k8s.io/kubernetes/pkg/controller/clusterroleaggregation.

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import type { ClusterRole } from "../../apimachinery/object.ts"
import type { Steps } from "../../apimachinery/steps.ts"
import { stepsInTurns } from "../../client/in-turns.ts"
import { clusterRoles } from "../../client/resources.ts"
import { bornVersion } from "../../client/tenants.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { roundPauseMs } from "../round-pause.ts"
import { canonical } from "../template-hash.ts"

export function runClusterRoleAggregation(ctx: ControllerContext): Promise<void> {
  const roles = ctx.informers.of<ClusterRole>(clusterRoles)
  const isAggregate = (role: ClusterRole): boolean => role.aggregationRule !== undefined
  const controller = new Controller<ClusterRole>(ctx, {
    name: "clusterrole-aggregation",
    primary: roles,
    concerns: isAggregate,
  })
  // A change of any role may affect any aggregated role, each of whose rounds goes through all roles.
  const enqueueAggregates = (tenant: string): void => {
    if (!roles.isSynced(tenant)) return // all roles are enqueued at synced
    const pauseMs = roundPauseMs(roles.count(tenant))
    for (const { metadata } of roles.byIndex(tenant, "aggregated", "")) {
      controller.enqueueAfter({ tenant, namespace: "", name: metadata.name ?? "" }, pauseMs)
    }
  }
  roles.subscribe({ added: enqueueAggregates, updated: enqueueAggregates, deleted: enqueueAggregates })
  return controller.run(async ({ tenant, name }: Key, actor) => {
    const role = roles.get(tenant, undefined, name)
    const selectors = role?.aggregationRule?.clusterRoleSelectors
    if (role === undefined || selectors === undefined) return
    // A new control plane already has complete aggregated roles.
    if (roles.list(tenant).every(({ metadata }) => metadata.resourceVersion === bornVersion)) return
    const rules = await stepsInTurns(rulesOf(role, roles.list(tenant), selectors.map(selectorFromLabelSelector)))
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

type Rules = NonNullable<ClusterRole["rules"]>

/** Ordered by selector and then by role name; without duplicates. One step for each role that is compared, and for each rule. */
export function* rulesOf(
  role: ClusterRole,
  all: readonly ClusterRole[],
  selectors: readonly Parameters<typeof matches>[0][],
): Steps<Rules> {
  let others = all.filter(({ metadata }) => metadata.name !== role.metadata.name)
  const rules = new Map<string, Rules[number]>()
  for (const selector of selectors) {
    // What an earlier selector has matched adds nothing: a body has room for thousands of selectors, and for thousands of rules.
    const left: ClusterRole[] = []
    const found: ClusterRole[] = []
    for (const other of others) {
      const side = matches(selector, other.metadata.labels ?? {}) ? found : left
      side.push(other)
      yield
    }
    others = left
    found.sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
    for (const rule of found.flatMap((other) => other.rules ?? [])) {
      const id = canonical(rule)
      if (!rules.has(id)) rules.set(id, rule)
      yield
    }
  }
  return [...rules.values()]
}
