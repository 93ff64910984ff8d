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
  /** Of a list, a watch or the deletion of a collection, as sent. Only the rights of nodes depend on it. */
  fieldSelector?: string
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

export interface RoleReference {
  kind: string
  name: string
}

/** The permissions of a user in a namespace ("": only cluster-wide rules). `missing`: roles that are bound but do not exist. */
export interface UserRules {
  rules: readonly PolicyRule[]
  missing: readonly RoleReference[]
  /** There are more rules than are told. */
  isIncomplete?: boolean
}

export interface Authorizer {
  /** Synchronous if no policy has to be read. */
  authorize(attributes: Attributes): Decision | Promise<Decision>
  /** For SelfSubjectRulesReview and the prevention of privilege escalation (escalation.ts). */
  rulesFor(user: User, namespace: string): Promise<UserRules>
  /** The rules of a referenced role; undefined if it does not exist. */
  rulesOf(reference: RoleReference, namespace: string): Promise<readonly PolicyRule[] | undefined>
}
