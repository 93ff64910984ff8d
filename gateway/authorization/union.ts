// The authorizers of a control plane: what neither allows is denied, for the reasons of both. Source:
// k8s.io/apiserver/pkg/authorization/union.

import { nodeOfUser } from "./node-identity.ts"
import type { NodeAuthorizer } from "./node.ts"
import { masters } from "./rbac.ts"
import type { Authorizer } from "./types.ts"

export function createUnionAuthorizer(nodes: NodeAuthorizer, rbac: Authorizer): Authorizer {
  return {
    ...rbac,
    authorize(attributes) {
      const { user } = attributes
      if (nodeOfUser(user) === undefined || user.groups.includes(masters)) return rbac.authorize(attributes)
      return (async () => {
        const byNode = await nodes(attributes)
        if (byNode.decision === "Allow") return byNode
        const byRole = await rbac.authorize(attributes)
        if (byRole.decision === "Allow") return byRole
        return { ...byRole, reason: [byNode.reason, byRole.reason].filter((reason) => reason !== "").join("\n") }
      })()
    },
  }
}
