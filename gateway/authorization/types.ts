import type { User } from "../request/user.ts"

export interface Attributes {
  user: User
  verb: string
  isResourceRequest: boolean
  path: string
  group: string
  version: string
  resource: string
  subresource: string
  namespace: string
  name: string
}

export interface Decision {
  decision: "Allow" | "Deny" | "NoOpinion"
  reason: string
}

/** One rule of a Role or ClusterRole, as it is on the wire. */
export interface PolicyRule {
  verbs?: readonly string[]
  apiGroups?: readonly string[]
  resources?: readonly string[]
  resourceNames?: readonly string[]
  nonResourceURLs?: readonly string[]
}

/** What a user may do in a namespace ("" : cluster-wide rules only). `errors`: bindings whose role is missing. */
export interface UserRules {
  rules: readonly PolicyRule[]
  errors: readonly string[]
}

export interface Authorizer {
  /** At once where no policy has to be asked. */
  authorize(attributes: Attributes): Decision | Promise<Decision>
  /** For SelfSubjectRulesReview and the checks against privilege escalation (escalation.ts). */
  rulesFor(user: User, namespace: string): Promise<UserRules>
  /** The rules a role reference stands for; throws NotFound when there is no such role. */
  rulesOf(reference: { kind: string; name: string }, namespace: string): Promise<readonly PolicyRule[]>
}
