// Who is a node: kubelets are users system:node:<name> in the group system:nodes. Source:
// k8s.io/kubernetes/pkg/auth/nodeidentifier.

import type { User } from "../request/user.ts"

const prefix = "system:node:"
const group = "system:nodes"

/** The name may be empty. Undefined: the user is no node. */
export function nodeOfUser({ name, groups }: User): string | undefined {
  return name.startsWith(prefix) && groups.includes(group) ? name.slice(prefix.length) : undefined
}
