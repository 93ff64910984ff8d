// Authenticates the caller with the authenticators of one control plane in order. All presented credentials must be valid: a
// certificate of another tenant is rejected even with a valid token (unlike upstream). Missing credentials are not an error.

import { unauthorized } from "../../apimachinery/status.ts"
import type { User } from "../request/user.ts"
import type { Authenticated, Authenticator, Credentials } from "./types.ts"

const authenticated = "system:authenticated"

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"], extra: {} }

type Answer = ReturnType<Authenticator["authenticate"]>

export function createUnionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  /** A rejection by one authenticator does not prevent a later one from accepting. */
  function accept(
    credentials: Credentials,
    audiences: readonly string[] | undefined,
    at = 0,
    refusal?: unknown,
  ): Answer {
    const authenticator = authenticators[at]
    if (authenticator === undefined) throw refusal ?? unauthorized()
    const next = (error?: unknown): Answer => accept(credentials, audiences, at + 1, refusal ?? error)
    const take = (answer: Authenticated | undefined): Answer =>
      answer === undefined ? next() : { ...answer, user: withAuthenticated(answer.user) }
    let answer: Answer
    try {
      answer = authenticator.authenticate(credentials, audiences)
    } catch (error) {
      return next(error)
    }
    return answer instanceof Promise ? answer.then(take, next) : take(answer)
  }

  /** As upstream, the certificate determines the user if both are valid. */
  async function acceptBoth(
    byCertificate: Answer,
    token: Credentials,
    audiences: readonly string[] | undefined,
  ): Promise<Authenticated | undefined> {
    const first = await byCertificate
    const byToken = await accept(token, audiences)
    return first ?? byToken
  }

  return {
    authenticate({ certificates, bearerToken }, audiences) {
      const isAnonymous = certificates.length === 0 && bearerToken === undefined
      if (isAnonymous) return undefined
      const token = { certificates: [], bearerToken }
      if (certificates.length === 0) return accept(token, audiences)
      const byCertificate = accept({ certificates, bearerToken: undefined }, audiences)
      return bearerToken === undefined ? byCertificate : acceptBoth(byCertificate, token, audiences)
    },
  }
}

const members = new WeakMap<User, User>()

/**
 * All authenticated users are in this group. Returns the same object for the same user, since authenticators return cached users.
 */
function withAuthenticated(user: User): User {
  if (user.groups.includes(authenticated)) return user
  let member = members.get(user)
  if (member === undefined) members.set(user, (member = { ...user, groups: [...user.groups, authenticated] }))
  return member
}
