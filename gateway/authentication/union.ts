// Who is the caller: the authenticators of one control plane in order. Whatever a caller presents must be accepted: a
// certificate of another tenant is not forgiven because a token beside it is good (upstream would). Having no credential
// at all is no error.

import { unauthorized } from "../../apimachinery/status.ts"
import type { User } from "../request/context.ts"
import type { Authenticator, Credentials } from "./types.ts"

const authenticated = "system:authenticated"

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} }

type Answer = Awaited<ReturnType<Authenticator["authenticate"]>>

export function createUnionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  async function accept(credentials: Credentials, audiences: readonly string[] | undefined): Promise<Answer> {
    let refusal: unknown
    for (const authenticator of authenticators) {
      try {
        const answer = await authenticator.authenticate(credentials, audiences)
        if (answer !== undefined) return { ...answer, user: withAuthenticated(answer.user) }
      } catch (error) {
        refusal ??= error // one that refuses does not keep a later one from accepting
      }
    }
    throw refusal ?? unauthorized()
  }

  return {
    async authenticate({ certificates, bearerToken }, audiences) {
      let answer: Answer
      if (certificates.length > 0) answer = await accept({ certificates, bearerToken: undefined }, audiences)
      if (bearerToken !== undefined) {
        const byToken = await accept({ certificates: [], bearerToken }, audiences)
        answer ??= byToken // as upstream, the certificate decides when both are good
      }
      return answer
    },
  }
}

/** Whoever was authenticated is in this group. */
function withAuthenticated(user: User): User {
  return user.groups.includes(authenticated) ? user : { ...user, groups: [...user.groups, authenticated] }
}
