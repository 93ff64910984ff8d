// Identity of the caller: a token that the gateway has signed for one call of one tenant to one node. Short-lived, to limit the
// damage of a leaked one; bound to the node by its audience, so that a node cannot use it on another.

import type { KeyObject } from "node:crypto"
import * as errors from "jose/errors"
import { SignJWT } from "jose/jwt/sign"
import { jwtVerify } from "jose/jwt/verify"

export const identityIssuer = "polyplane-gateway"
const algorithm = "ES256"
const lifetimeSeconds = 60
/**
 * Allowed difference between the clocks of gateway and node: that for which upstream's signers backdate certificates, which is what kubelets
 * tolerate of kube-apiserver. A leaked token can be used for so much longer, on its node.
 */
const clockToleranceSeconds = 5 * 60

export interface TenantIdentity {
  tenant: string
  /** Determines the super namespaces the tenant may access. */
  clusterKey: string
}

const audience = (node: string): string => `vn-agent/${node}`

export function signIdentity(identity: TenantIdentity, node: string, key: KeyObject): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ clusterKey: identity.clusterKey })
    .setProtectedHeader({ alg: algorithm })
    .setIssuer(identityIssuer)
    .setSubject(identity.tenant)
    .setAudience(audience(node))
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(key)
}

/**
 * Undefined if it is not a valid identity for this node. Any of `keys` may have signed it (there are two while a key is
 * replaced).
 */
export async function verifyIdentity(
  token: string,
  node: string,
  keys: readonly KeyObject[],
): Promise<TenantIdentity | undefined> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, {
        issuer: identityIssuer,
        audience: audience(node),
        algorithms: [algorithm],
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["sub", "exp", "clusterKey"],
      })
      const { sub, clusterKey } = payload
      if (typeof sub === "string" && typeof clusterKey === "string" && clusterKey !== "")
        return { tenant: sub, clusterKey }
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error // a key of the wrong type is a configuration error, not the caller's
    }
  }
  return undefined
}
