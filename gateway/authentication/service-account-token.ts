// Service account tokens of one control plane: signed with its key, with its issuer, and valid only while the account and the bound
// object exist. Sources: k8s.io/kubernetes/pkg/serviceaccount/{claims,jwt}.go, KEP-1205.

import { createHash, type KeyObject, randomUUID } from "node:crypto"
import { decodeJwt, jwtVerify, SignJWT, type JWTPayload } from "jose"
import type { KubeObject, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import { ownValue } from "../../apimachinery/schema/json-object.ts"
import { invalidSinceLabel, tokenType } from "../../apimachinery/secret-tokens.ts"
import { hasReason, isNotFound, notFound, unauthorized } from "../../apimachinery/status.ts"
import { nodes, pods, secrets, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient, Resource } from "../../client/rest.ts"
import type { User } from "../request/user.ts"
import type { Authenticator, TokenIssuer, TrustRoots } from "./types.ts"

const tokenLimits = {
  /** Upstream's minimum; validation rejects shorter durations. */
  minSeconds: 600,
  /** How long a verified signature is cached; the objects it depends on are checked every time. */
  cacheMs: 60_000,
  /** Number of cached signatures per control plane; the oldest are dropped. */
  cacheEntries: 1024,
  /** Objects being deleted still count for this long, to allow for clock skew. */
  deletionLeewayMs: 60_000,
  maxTokenBytes: 16 * 1024,
} as const

interface Reference {
  name: string
  uid: string
}

interface KubernetesClaims {
  namespace: string
  serviceaccount: Reference
  pod?: Reference
  secret?: Reference
  node?: Reference
}

type Claims = JWTPayload & { "kubernetes.io"?: KubernetesClaims }

/** Reads the objects that tokens depend on; the control plane's own client. */
type Reader = Pick<KubeClient, "get">

export function createTokenIssuer(trust: TrustRoots, reader: Reader): TokenIssuer {
  return {
    async issue({ namespace, serviceAccount, audiences, expirationSeconds, boundObject }) {
      const issuedAt = Math.floor(Date.now() / 1000)
      const expires = issuedAt + expirationSeconds
      const claims: KubernetesClaims = { namespace, serviceaccount: serviceAccount }
      if (boundObject !== undefined) Object.assign(claims, await boundClaims(reader, namespace, boundObject))
      const token = await new SignJWT({ "kubernetes.io": claims })
        .setProtectedHeader({ alg: "ES256", kid: trust.serviceAccountKey.keyId })
        .setIssuer(trust.issuer)
        .setSubject(`system:serviceaccount:${namespace}:${serviceAccount.name}`)
        .setAudience(audiences.length === 0 ? [trust.issuer] : [...audiences])
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(expires)
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

async function nodeOf(reader: Reader, pod: KubeObject): Promise<Reference | undefined> {
  const { nodeName } = (pod["spec"] ?? {}) as { nodeName?: string }
  if (nodeName === undefined || nodeName === "") return undefined
  const node = await readOptional(reader, nodes, undefined, nodeName)
  // As upstream: a node that does not exist is named without a uid.
  return { name: nodeName, uid: node?.metadata.uid ?? "" }
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
  const signatures = new Map<string, { claims: Claims; until: number }>()

  async function verifySignature(token: string): Promise<Claims> {
    const key = createHash("sha256").update(token).digest("base64")
    const known = signatures.get(key)
    const now = Date.now()
    if (known !== undefined && now < known.until) return known.claims
    const claims = await verify(token, { issuer: trust.issuer, key: trust.serviceAccountKey.public })
    for (const oldest of signatures.keys()) {
      if (signatures.size < tokenLimits.cacheEntries) break
      signatures.delete(oldest)
    }
    signatures.delete(key)
    signatures.set(key, { claims, until: Math.min(now + tokenLimits.cacheMs, (claims.exp ?? 0) * 1000) })
    return claims
  }

  return {
    async authenticate({ bearerToken }, audiences = apiAudiences) {
      if (bearerToken === undefined) return undefined
      const issuer = tokenIssuer(bearerToken)
      if (issuer === undefined || (issuer !== trust.issuer && !anyIssuer)) return undefined
      let claims: Claims
      try {
        claims = await verifySignature(bearerToken)
      } catch {
        // jose has many reasons; the caller learns only that the token is invalid.
        throw unauthorized()
      }
      const granted = audiencesOf(claims)
      const accepted = audiences.filter((audience) => granted.includes(audience))
      const kubernetes = claims["kubernetes.io"]
      if (accepted.length === 0 || kubernetes === undefined) throw unauthorized()
      const { account, node, secret } = await checkObjects(reader, kubernetes)
      const user = userOf(node === undefined ? kubernetes : { ...kubernetes, node }, claims.jti)
      if (secret === undefined || !holdsToken(secret, bearerToken)) return { user, audiences: accepted }
      if (secret.metadata.labels?.[invalidSinceLabel] !== undefined) throw unauthorized()
      used?.(secret)
      return { user, audiences: accepted, ...(lists(account, secret) ? { warning: listedSecret } : {}) }
    },
  }
}

interface Signer {
  issuer: string
  key: KeyObject
}

/** Rejects if the signature or the validity period is invalid. */
async function verify(token: string, { issuer, key }: Signer): Promise<Claims> {
  const { payload } = await jwtVerify(token, key, {
    issuer,
    algorithms: ["ES256"],
    requiredClaims: ["exp", "nbf", "aud", "sub"],
  })
  return payload as Claims
}

/** Whether the token is signed by the issuer and currently valid; the objects it depends on are not checked. */
export async function isSignedToken(token: string, signer: Signer): Promise<boolean> {
  try {
    await verify(token, signer)
    return true
  } catch {
    return false // whatever jose's reason is, the token is invalid
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

/** Secret-based tokens, which preceded TokenRequest. */
function holdsToken({ type, data }: Secret, token: string): boolean {
  const held = ownValue(data, "token")
  return type === tokenType && held !== undefined && Buffer.from(held, "base64").toString() === token
}

/**
 * Secrets listed by accounts are those that were generated for each account before TokenRequest. Source: serviceaccount/legacy.go.
 */
const listedSecret =
  "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens."

function lists({ secrets: listed }: ServiceAccount, { metadata }: Secret): boolean {
  return listed?.some(({ name }) => name === metadata.name) === true
}

/**
 * Returns the account, the node, and the Secret. The syncer requests tokens before their pod is scheduled, whereas a kubelet does
 * so afterwards: such a token does not contain the node, but its pod does.
 */
async function checkObjects(
  reader: Reader,
  claims: KubernetesClaims,
): Promise<{ account: ServiceAccount; node: Reference | undefined; secret: Secret | undefined }> {
  const { namespace, serviceaccount, pod, secret, node } = claims
  const account: ServiceAccount = await checkObject(reader, serviceAccounts, namespace, serviceaccount)
  const holder = secret === undefined ? undefined : await checkObject(reader, secrets, namespace, secret)
  const bound = { account, secret: holder as Secret | undefined }
  if (pod === undefined) {
    if (node !== undefined) await checkObject(reader, nodes, undefined, node)
    return { ...bound, node }
  }
  const object = await checkObject(reader, pods, namespace, pod)
  return { ...bound, node: node ?? (await nodeOf(reader, object)) }
}

async function checkObject(
  reader: Reader,
  resource: Resource,
  namespace: string | undefined,
  { name, uid }: Reference,
): Promise<KubeObject> {
  const object = await readOptional(reader, resource, namespace, name)
  if (object === undefined || object.metadata.uid !== uid) throw unauthorized()
  const { deletionTimestamp } = object.metadata
  const leaving = deletionTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(deletionTimestamp)
  if (leaving < Date.now() - tokenLimits.deletionLeewayMs) throw unauthorized()
  return object
}

async function readOptional(
  reader: Reader,
  resource: Resource,
  namespace: string | undefined,
  name: string,
): Promise<KubeObject | undefined> {
  try {
    return await reader.get<KubeObject>(resource, namespace, name)
  } catch (error) {
    if (isNotFound(error) || hasReason(error, "BadRequest")) return undefined
    throw error
  }
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
    name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
    uid: serviceaccount.uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra,
  }
}
