// Who is the caller: the authenticators of one control plane in order. The first that knows the credential decides; a
// credential nobody accepts is refused even when another one would do, but having none at all is no error.

import { unauthorized } from "../../apimachinery/status.ts"
import type { User } from "../request/context.ts"
import type { Authenticator, Credentials } from "./types.ts"

const authenticated = "system:authenticated"

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} }

export function createUnionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(credentials, audiences) {
      let refusal: unknown
      for (const authenticator of authenticators) {
        try {
          const answer = await authenticator.authenticate(credentials, audiences)
          if (answer !== undefined) return { ...answer, user: withAuthenticated(answer.user) }
        } catch (error) {
          // As upstream: one that refuses does not keep a later one from accepting.
          refusal ??= error
        }
      }
      if (refusal !== undefined) throw refusal
      if (presentsSomething(credentials)) throw unauthorized()
      return undefined
    },
  }
}

function presentsSomething({ certificates, bearerToken }: Credentials): boolean {
  return certificates.length > 0 || bearerToken !== undefined
}

/** Whoever was authenticated is in this group, unless it is the anonymous user by another way (impersonation). */
export function withAuthenticated(user: User): User {
  if (user.groups.includes(authenticated) || user.groups.includes("system:unauthenticated")) return user
  return { ...user, groups: [...user.groups, authenticated] }
}
