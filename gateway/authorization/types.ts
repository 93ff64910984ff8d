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

/** One rule of a Role or ClusterRole in its wire format. */
export interface PolicyRule {
  verbs?: readonly string[]
  apiGroups?: readonly string[]
  resources?: readonly string[]
  resourceNames?: readonly string[]
  nonResourceURLs?: readonly string[]
}

/** The permissions of a user in a namespace ("": only cluster-wide rules). `errors`: bindings whose role is missing. */
export interface UserRules {
  rules: readonly PolicyRule[]
  errors: readonly string[]
}

export interface Authorizer {
  /** Synchronous if no policy has to be read. */
  authorize(attributes: Attributes): Decision | Promise<Decision>
  /** For SelfSubjectRulesReview and the prevention of privilege escalation (escalation.ts). */
  rulesFor(user: User, namespace: string): Promise<UserRules>
  /** The rules of a referenced role; throws NotFound if the role does not exist. */
  rulesOf(reference: { kind: string; name: string }, namespace: string): Promise<readonly PolicyRule[]>
}
