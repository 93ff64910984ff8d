// Prevents users from granting permissions that they do not have by roles and bindings. Upstream checks this in registries; here it
// is done in admission, since it needs the authorizer. The rules are in gateway/authorization/escalation.ts.

import type { ClusterRole, KubeObject, RoleBinding } from "../../../apimachinery/object.ts"
import { confirmBindingGrants, confirmRoleGrants } from "../../authorization/escalation.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"
import type { AdmissionPlugin } from "../chain.ts"
import { objectAs } from "./refuse.ts"

const group = "rbac.authorization.k8s.io"

export const rbacEscalation: AdmissionPlugin = {
  name: "RBACEscalation",

  concerns: ({ resource, subresource, operation }) =>
    resource.group === group && subresource === "" && (operation === "CREATE" || operation === "UPDATE"),

  async validate(ctx, attributes) {
    const { namespace } = attributes
    const { resource } = attributes.resource
    if (resource === "roles" || resource === "clusterroles") {
      const role = objectAs<ClusterRole>(attributes)
      const before = attributes.current as ClusterRole | undefined
      if (before !== undefined && changesOnlyOwners(role, before)) return
      const { metadata, rules } = role
      const aggregates = hasAggregation(role) || (before !== undefined && hasAggregation(before))
      await confirmRoleGrants(ctx, { resource, namespace, name: metadata.name ?? "", rules: rules ?? [], aggregates })
    }
    if (resource === "rolebindings" || resource === "clusterrolebindings") {
      const binding = objectAs<RoleBinding>(attributes)
      const before = attributes.current as RoleBinding | undefined
      if (before !== undefined && changesOnlyOwners(binding, before)) return
      const { kind, name } = binding.roleRef
      await confirmBindingGrants(ctx, {
        resource,
        namespace,
        name: binding.metadata.name ?? "",
        roleRef: { kind, name },
      })
    }
  },
}

const hasAggregation = ({ aggregationRule }: ClusterRole): boolean =>
  (aggregationRule?.clusterRoleSelectors ?? []).length > 0

/** What the garbage collector changes, without any permission of a role, until it can delete the object. */
function changesOnlyOwners(object: KubeObject, before: KubeObject): boolean {
  const unset = {
    ownerReferences: undefined,
    finalizers: undefined,
    managedFields: undefined,
    resourceVersion: undefined,
  }
  const compared = (one: KubeObject): object => ({ ...one, metadata: { ...one.metadata, ...unset } })
  return semanticEqual(compared(object), compared(before))
}
