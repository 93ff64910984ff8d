import type { User } from "../request/context.ts"

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

export interface Authorizer {
  authorize(attributes: Attributes): Promise<Decision>
}
