// Prevents users from granting permissions that they do not have by roles and bindings. Upstream checks this in registries; here it
// is done in admission, since it needs the authorizer. The rules are in gateway/authorization/escalation.ts.

import type { ClusterRole, RoleBinding } from "../../../apimachinery/object.ts"
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
      const changed =
        before === undefined ||
        !semanticEqual(role.rules, before.rules) ||
        !semanticEqual(role.aggregationRule, before.aggregationRule)
      if (!changed) return
      await confirmRoleGrants(ctx, { resource, namespace, name: role.metadata.name ?? "", rules: role.rules ?? [] })
    }
    if (resource === "rolebindings" || resource === "clusterrolebindings") {
      const binding = objectAs<RoleBinding>(attributes)
      const before = attributes.current as RoleBinding | undefined
      const changed =
        before === undefined ||
        !semanticEqual(binding.roleRef, before.roleRef) ||
        !semanticEqual(binding.subjects, before.subjects)
      if (!changed) return
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
