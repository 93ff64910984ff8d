// Whose a token claims to be, before that is verified. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc (untrustedIssuer).

import { tokenIssuer } from "../service-account-token.ts"

/** Tokens of Google may omit the scheme. */
export const google = { url: "https://accounts.google.com", claimed: "accounts.google.com" }

/** The URL of the issuer. Undefined: it is not a JWT, or names none. */
export function untrustedIssuer(token: string): string | undefined {
  const claimed = tokenIssuer(token)
  return claimed === google.claimed ? google.url : claimed
}
