// Prevents users from granting permissions that they do not have by roles and bindings. The rules are in
// gateway/authorization/escalation.ts. Source: k8s.io/kubernetes/pkg/registry/rbac/*/policybased/storage.go.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { confirmBindingGrants, confirmRoleGrants } from "../../authorization/escalation.ts"
import type { PolicyRule } from "../../authorization/types.ts"
import type { RequestContext } from "../../request/context.ts"
import { semanticEqual } from "../validation/equality.ts"

type Role = KubeObject & {
  rules?: PolicyRule[] | null
  aggregationRule?: { clusterRoleSelectors?: readonly unknown[] }
}
type Binding = KubeObject & { roleRef?: { apiGroup?: string; kind?: string; name?: string } }

/** The strategy's `confirm` of roles and cluster roles. */
export async function confirmRole(
  ctx: RequestContext,
  role: Role,
  current: Role | undefined,
  resource: "roles" | "clusterroles",
): Promise<void> {
  if (current !== undefined && changesOnlyOwners(role, current)) return
  const { name = "" } = role.metadata
  const aggregates = hasAggregation(role) || (current !== undefined && hasAggregation(current))
  const rules = role.rules ?? []
  await confirmRoleGrants(ctx, { resource, namespace: namespaceOf(role, current), name, rules, aggregates })
}

/** The strategy's `confirm` of role bindings and cluster role bindings. */
export async function confirmBinding(
  ctx: RequestContext,
  binding: Binding,
  current: Binding | undefined,
  resource: "rolebindings" | "clusterrolebindings",
): Promise<void> {
  if (current !== undefined && changesOnlyOwners(binding, current)) return
  const { metadata, roleRef = {} } = binding
  const { name = "" } = metadata
  await confirmBindingGrants(ctx, { resource, namespace: namespaceOf(binding, current), name, roleRef })
}

const namespaceOf = (object: KubeObject, current: KubeObject | undefined): string =>
  (current ?? object).metadata.namespace ?? ""

const hasAggregation = ({ aggregationRule }: Role): boolean => (aggregationRule?.clusterRoleSelectors ?? []).length > 0

/** What the garbage collector changes, without any permission of a role, until it can delete the object. */
function changesOnlyOwners(object: KubeObject, before: KubeObject): boolean {
  const unset = { ownerReferences: undefined, finalizers: undefined, managedFields: undefined }
  const compared = (one: KubeObject): object => ({ ...one, metadata: { ...one.metadata, ...unset } })
  return semanticEqual(compared(object), compared(before))
}
