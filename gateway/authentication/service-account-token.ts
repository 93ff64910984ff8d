// Service account tokens of one control plane: signed with its key, with its issuer, and valid only while the account and the bound
// object exist. Sources: k8s.io/kubernetes/pkg/serviceaccount/{claims,jwt}.go, KEP-1205.

import { createHash, type KeyObject, randomUUID } from "node:crypto"
import { decodeProtectedHeader } from "jose/decode/protected_header"
import * as errors from "jose/errors"
import { compactVerify } from "jose/jws/compact/verify"
import { decodeJwt } from "jose/jwt/decode"
import { SignJWT } from "jose/jwt/sign"
import type { JWTPayload } from "jose"
import type { KubeObject, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import { goQuote, goQuoteList } from "../../apimachinery/go/quote.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { invalidSinceLabel, longestTokenSeconds, tokenType } from "../../apimachinery/core/service-account-tokens.ts"
import { remember } from "../../apimachinery/remember.ts"
import { notFound, unauthorized } from "../../apimachinery/status.ts"
import { pods } from "../../client/resources.ts"
import { serviceAccountUser, type User } from "../request/user.ts"
import { checkObjects, type KubernetesClaims, nodeOf, type Reader } from "./token-objects.ts"
import type { Authenticated, Authenticator, TokenIssuer, TrustRoots } from "./types.ts"

const tokenLimits = {
  /** As upstream: how far the clocks of the issuer and of this process may differ. */
  leewayMs: 60_000,
  /** How long a verified signature is cached; the objects it depends on are checked every time. */
  cacheMs: 60_000,
  /** Number of cached signatures per control plane; the oldest are dropped. */
  cacheEntries: 1024,
  maxTokenBytes: 16 * 1024,
} as const

type Claims = JWTPayload & { "kubernetes.io"?: KubernetesClaims }

export function createTokenIssuer(trust: TrustRoots, reader: Reader): TokenIssuer {
  return {
    async issue({ namespace, serviceAccount, audiences, expirationSeconds, extendedSeconds, boundObject }) {
      const issuedAt = Math.floor(Date.now() / 1000)
      const expires = issuedAt + expirationSeconds
      const claims: KubernetesClaims = { namespace, serviceaccount: serviceAccount }
      if (extendedSeconds !== undefined) claims.warnafter = expires
      if (boundObject !== undefined) Object.assign(claims, await boundClaims(reader, namespace, boundObject))
      const token = await new SignJWT({ "kubernetes.io": claims })
        .setProtectedHeader({ alg: "ES256", kid: trust.serviceAccountKey.keyId })
        .setIssuer(trust.issuer)
        .setSubject(serviceAccountUser(namespace, serviceAccount.name))
        .setAudience(audiences.length === 0 ? [trust.issuer] : [...audiences])
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(issuedAt + (extendedSeconds ?? expirationSeconds))
        .setJti(randomUUID())
        .sign(trust.serviceAccountKey.private)
      return { token, expirationTimestamp: new Date(expires * 1000).toISOString().slice(0, 19) + "Z" }
    },
  }
}

/** The token of a pod also contains its node. */
async function boundClaims(
  reader: Reader,
  namespace: string,
  bound: { kind: string; name: string; uid: string },
): Promise<Partial<KubernetesClaims>> {
  const { name, uid } = bound
  if (bound.kind === "Secret") return { secret: { name, uid } }
  if (bound.kind === "Node") return { node: { name, uid } }
  const pod = await reader.get<KubeObject>(pods, namespace, name)
  if (pod.metadata.uid !== uid) throw notFound(pods, name)
  const node = await nodeOf(reader, pod)
  return { pod: { name, uid }, ...(node === undefined ? {} : { node }) }
}

export function createTokenAuthenticator(
  trust: TrustRoots,
  reader: Reader,
  options: {
    /** The default audiences of tokens, which identify this API server. */
    apiAudiences: readonly string[]
    /** Verifies tokens of all issuers, so that rejections take as long as for a known issuer. */
    anyIssuer?: boolean
    /** Called when a token from this Secret was used. */
    used?: (secret: Secret) => void
  },
): Authenticator {
  const { apiAudiences, anyIssuer = false, used } = options
  const signatures = new Signatures(trust)
  return {
    async authenticate({ bearerToken }, audiences = apiAudiences) {
      if (bearerToken === undefined) return undefined
      const issuer = tokenIssuer(bearerToken)
      if (issuer === undefined || (issuer !== trust.issuer && !anyIssuer)) return undefined
      const claims = await signatures.verified(bearerToken)
      const granted = audiencesOf(claims)
      const accepted = audiences.filter((audience) => granted.includes(audience))
      if (accepted.length === 0) {
        const lists = `${goQuoteList(granted)} is invalid for the target audiences ${goQuoteList(audiences)}`
        throw unauthorized(`token audiences ${lists}`)
      }
      const fault = faultOfTimes(claims)
      if (fault !== undefined) throw unauthorized(fault)
      const kubernetes = claims["kubernetes.io"]
      if (kubernetes === undefined) throw unauthorized()
      const { account, node, secret } = await checkObjects(reader, kubernetes)
      if (secret === undefined || !isOfSecret(claims, secret))
        return {
          user: userOf(node === undefined ? kubernetes : { ...kubernetes, node }, claims.jti),
          audiences: accepted,
          ...staleness(claims),
        }
      if (!holdsToken(secret, bearerToken)) throw unauthorized("Token does not match server's copy")
      used?.(secret)
      if (secret.metadata.labels?.[invalidSinceLabel]) throw unauthorized(markedInvalid(secret, account))
      const user = userOf(kubernetes, undefined)
      return { user, audiences: accepted, ...reminder(user, secret, lists(account, secret)) }
    },
  }
}

/** Prefix of annotations in audit logs. */
const annotation = "authentication.k8s.io"

/** A list of texts, as Go prints it with %q. */

/** The tokens whose signatures were verified recently. */
class Signatures {
  readonly #trust: TrustRoots
  readonly #known = new Map<string, { claims: Claims; until: number }>()

  constructor(trust: TrustRoots) {
    this.#trust = trust
  }

  async verified(token: string): Promise<Claims> {
    const hash = createHash("sha256").update(token).digest("base64")
    const known = this.#known.get(hash)
    const now = Date.now()
    if (known !== undefined && now < known.until) return known.claims
    const { issuer, serviceAccountKey } = this.#trust
    const claims = await verify(token, { issuer, key: serviceAccountKey.public, keyId: serviceAccountKey.keyId })
    remember(this.#known, hash, { claims, until: now + tokenLimits.cacheMs }, tokenLimits.cacheEntries)
    return claims
  }
}

interface Signer {
  issuer: string
  key: KeyObject
  keyId?: string
}

/** Rejects if the signature or the issuer is invalid. Does not check the validity period. */
async function verify(token: string, { issuer, key, keyId }: Signer): Promise<Claims> {
  // A token need not name its key.
  if (keyId !== undefined && (keyIdOf(token) || keyId) !== keyId) throw unauthorized("invalid signature, no keys found")
  const { payload } = await compactVerify(token, key, { algorithms: ["ES256"] }).catch((error: unknown) => {
    throw unauthorized(error instanceof errors.JWSInvalid ? undefined : badSignature)
  })
  const claims = JSON.parse(Buffer.from(payload).toString()) as Claims
  if (claims.iss !== issuer) throw unauthorized(`token issuer ${goQuote(claims.iss ?? "")} is invalid`)
  return claims
}

const badSignature = "go-jose/go-jose: error in cryptographic primitive"

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch (error) {
    throw error instanceof TypeError ? unauthorized() : error // jose's error for a header that is not one
  }
}

/** In upstream's words, with its leeway for the difference of two clocks. */
function faultOfTimes({ exp, nbf, iat }: Claims): string | undefined {
  const now = Date.now()
  const isLater = (seconds: number | undefined): boolean =>
    seconds !== undefined && seconds * 1000 > now + tokenLimits.leewayMs
  if (isLater(nbf)) return "service account token is not valid yet"
  // Every token has an end.
  if (exp === undefined || exp * 1000 < now - tokenLimits.leewayMs) return "service account token has expired"
  return isLater(iat) ? "service account token is issued in the future" : undefined
}

/** Whether the token is signed by the issuer and currently valid; the objects it depends on are not checked. */
export async function isSignedToken(token: string, signer: Signer): Promise<boolean> {
  try {
    return faultOfTimes(await verify(token, signer)) === undefined
  } catch {
    return false // whatever the reason is, the token is invalid
  }
}

/** The unverified issuer of a token; undefined if it is not a JWT. Identifies the tenant (tenant-resolver.ts). */
export function tokenIssuer(token: string): string | undefined {
  if (token.length > tokenLimits.maxTokenBytes) return undefined
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined // not a JWT, so not a token of this kind
  }
}

function audiencesOf({ aud }: Claims): string[] {
  return aud === undefined ? [] : typeof aud === "string" ? [aud] : aud
}

/**
 * A secret-based token, which preceded TokenRequest: the one that the Secret's controller requested, for the longest possible time. It is
 * revoked by changing the Secret, unlike a token that a client has bound to the Secret.
 */
function isOfSecret({ exp = 0, iat = 0 }: Claims, { type }: Secret): boolean {
  return type === tokenType && exp - iat === longestTokenSeconds
}

function holdsToken({ data }: Secret, token: string): boolean {
  const held = ownValue(data, "token")
  return held !== undefined && Buffer.from(held, "base64").toString() === token
}

/**
 * Secrets listed by accounts are those that were generated for each account before TokenRequest. Source: serviceaccount/legacy.go.
 */
const listedSecret =
  "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."

/** Of secret-based tokens, which TokenRequest replaces. */
function reminder(
  user: User,
  { metadata: { name = "" } }: Secret,
  isListed: boolean,
): Pick<Authenticated, "warning" | "annotations"> {
  const origin = isListed ? "autogenerated" : "manual"
  const annotations = {
    [`${annotation}/legacy-token`]: user.name,
    [`${annotation}/legacy-token-${origin}-secret`]: name,
  }
  return isListed ? { warning: listedSecret, annotations } : { annotations }
}

/** Of a token that its holder should have replaced by now. */
function staleness({ sub, "kubernetes.io": kubernetes }: Claims): Pick<Authenticated, "annotations"> {
  const { warnafter = 0 } = kubernetes ?? {}
  if (warnafter === 0 || Date.now() <= warnafter * 1000) return {}
  const seconds = Math.floor(Date.now() / 1000) - warnafter
  const stale = `subject: ${sub}, seconds after warning threshold: ${seconds}`
  return { annotations: { [`${annotation}/stale-token`]: stale } }
}

function markedInvalid({ metadata }: Secret, account: ServiceAccount): string {
  const { namespace = "", name } = metadata
  return (
    `the token in secret ${namespace}/${name} for service account ${namespace}/${account.metadata.name} has been marked invalid. ` +
    "Use tokens from the TokenRequest API or manually created secret-based tokens, or " +
    `remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`
  )
}

function lists({ secrets: listed }: ServiceAccount, { metadata }: Secret): boolean {
  return listed?.some(({ name }) => name === metadata.name) === true
}

const extraPrefix = "authentication.kubernetes.io"

function userOf(claims: KubernetesClaims, id: string | undefined): User {
  const { namespace, serviceaccount, pod, node } = claims
  const extra: Record<string, string[]> = {}
  if (id !== undefined) extra[`${extraPrefix}/credential-id`] = [`JTI=${id}`]
  if (pod !== undefined) {
    extra[`${extraPrefix}/pod-name`] = [pod.name]
    extra[`${extraPrefix}/pod-uid`] = [pod.uid]
  }
  if (node !== undefined) {
    extra[`${extraPrefix}/node-name`] = [node.name]
    if (node.uid !== "") extra[`${extraPrefix}/node-uid`] = [node.uid]
  }
  return {
    name: serviceAccountUser(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra,
  }
}
