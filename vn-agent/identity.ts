// Who asks: a token the gateway signed for one call of one tenant to one node. Short-lived, so that a leaked one is worth
// little; bound to the node by its audience, so that one node cannot use it on another.

import type { KeyObject } from "node:crypto"
import { errors, jwtVerify, SignJWT } from "jose"

export const identityIssuer = "polyplane-gateway"
const algorithm = "ES256"
const lifetimeSeconds = 60
/** Clocks of gateway and node may differ by this much. */
const clockToleranceSeconds = 10

export interface TenantIdentity {
  tenant: string
  /** Decides the super namespaces the tenant may reach. */
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

/** Undefined: not an identity for this node. Any key of `keys` may have signed it (two while a key is replaced). */
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
      if (!(error instanceof errors.JOSEError)) throw error // a key of the wrong kind is ours to repair, not the caller's
    }
  }
  return undefined
}
