// Verifies a JWT of a configured issuer: signature, audience and validity period, in the order and with the reasons of upstream.
// Source: github.com/coreos/go-oidc (verify.go, jwks.go) and k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import { compactVerify, errors, type JWTPayload } from "jose"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import type { JWTAuthenticator } from "./configuration.ts"
import type { IssuerKeys } from "./issuer-keys.ts"

/** The message is upstream's reason without its prefix. */
export class InvalidToken extends Error {}

const algorithms = ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"]

/** How far the clock of the issuer may be ahead; there is no leeway for the end of a token. */
const leewayMs = 60_000

export async function verifiedClaims(
  token: string,
  { authenticator, keys }: { authenticator: JWTAuthenticator; keys: IssuerKeys },
): Promise<JWTPayload> {
  const { audiences } = authenticator.issuer
  const payload = await signedPayload(token, keys)
  const claims = parsed(payload)
  const given = typeof claims.aud === "string" ? [claims.aud] : (claims.aud ?? [])
  if (!given.some((audience) => audiences.includes(audience))) {
    const [only = ""] = audiences
    const expected = audiences.length > 1 ? `in ${goStrings([...audiences].sort())}` : goQuote(only)
    throw invalid(`oidc: expected audience ${expected} got ${goStrings(given)}`)
  }
  const now = Date.now()
  const { exp, nbf } = claims
  if (exp === undefined || exp * 1000 < now)
    throw invalid(`oidc: token is expired (Token Expiry: ${printTime(exp ?? -Infinity)})`)
  if (nbf !== undefined && now + leewayMs < nbf * 1000)
    throw invalid(`oidc: current time ${printTime(now / 1000)} before the nbf (not before) time: ${printTime(nbf)}`)
  return claims
}

const invalid = (reason: string, cause?: unknown): InvalidToken =>
  new InvalidToken(`verify token: ${reason}`, cause === undefined ? {} : { cause })

/** The first and the last second that are printed with four digits of the year; the first is Go's zero time. */
const zeroTime = -62_135_596_800
const lastTime = 253_402_300_799

/** In Go's print format, of seconds since the epoch. */
function printTime(seconds: number): string {
  const printable = Math.min(Math.max(Math.trunc(seconds), zeroTime), lastTime)
  return `${new Date(printable * 1000).toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`
}

const goStrings = (texts: readonly string[]): string => `[${texts.map(goQuote).join(" ")}]`

/** A key may have been replaced under its name. */
async function signedPayload(token: string, keys: IssuerKeys): Promise<Uint8Array> {
  try {
    return await payloadOf(token, keys).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWSSignatureVerificationFailed) || !(await keys.refresh())) throw error
      return payloadOf(token, keys)
    })
  } catch (error) {
    if (error instanceof errors.JWSInvalid) throw invalid("oidc: malformed jwt", error)
    if (error instanceof errors.JOSEAlgNotAllowed) throw invalid(unsupported, error)
    if (error instanceof errors.JOSEError)
      throw invalid("failed to verify signature: failed to verify id token signature", error)
    throw new InvalidToken("authenticator not initialized", { cause: error })
  }
}

const unsupported = `oidc: id token signed with unsupported algorithm, expected ${goStrings(algorithms)}`

/** A token need not name its key: then every key that it may be signed with is tried. */
async function payloadOf(token: string, keys: IssuerKeys): Promise<Uint8Array> {
  try {
    return (await compactVerify(token, keys.keyOf, { algorithms })).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const verified = await compactVerify(token, key, { algorithms }).catch((wrong: unknown) => {
        if (wrong instanceof errors.JWSSignatureVerificationFailed) return undefined
        throw wrong
      })
      if (verified !== undefined) return verified.payload
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function parsed(payload: Uint8Array): JWTPayload {
  const claims: unknown = JSON.parse(Buffer.from(payload).toString())
  const { exp, nbf, aud } = claims as Record<string, unknown>
  const isText = (value: unknown): boolean => typeof value === "string"
  const isTime = (value: unknown): boolean => value === undefined || typeof value === "number"
  const hasAudience = aud === undefined || isText(aud) || (Array.isArray(aud) && aud.every(isText))
  if (!isTime(exp) || !isTime(nbf) || !hasAudience) throw invalid("oidc: failed to unmarshal claims")
  return claims as JWTPayload
}
