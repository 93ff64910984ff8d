// Verifies a JWT of an issuer: signature, audience and validity period, in the order and with the reasons of upstream.
// Source: github.com/coreos/go-oidc (verify.go, jwks.go) and k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import * as errors from "jose/errors"
import type { CompactVerifyGetKey } from "jose"
import { compactVerify } from "jose/jws/compact/verify"
import { goQuote, goQuoteList } from "../../../apimachinery/go/quote.ts"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { type IDToken, readIDToken } from "./id-token-claims.ts"
import { InvalidToken } from "./invalid-token.ts"
import type { IssuerKeys } from "./issuer-keys.ts"

const algorithms = ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"]

/** Keys of an issuer that a token is compared with which does not name one: an issuer may have thousands. */
const maxTriedKeys = 32

/** How far the clock of the issuer may be ahead; there is no leeway for the end of a token. */
const leewayMs = 60_000

/** The keys of the issuer, and a way to wait for one of the places for work in other threads. */
export interface Verifying {
  keys: Pick<IssuerKeys, "keyOf" | "refresh">
  aside: Aside
}

/** Runs a job when it has one of few places (request/thread-places.ts). */
export type Aside = <T>(job: () => Promise<T>) => Promise<T>

/** `action`: upstream's words before the reason. */
export async function verifiedClaims(
  token: string,
  { audiences, action, ...verifying }: Verifying & { audiences: readonly string[]; action: string },
): Promise<JsonObject> {
  try {
    const payload = await signedPayload(token, verifying)
    const { claims, ...read } = readIDToken(payload)
    confirmAudience(read, audiences)
    confirmTimes(read)
    return claims
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error
    throw new InvalidToken(`${action}: ${error.message}`, { cause: error.cause })
  }
}

function confirmAudience({ audience }: Pick<IDToken, "audience">, accepted: readonly string[]): void {
  if (audience.some((one) => accepted.includes(one))) return
  const [only = ""] = accepted
  const expected = accepted.length > 1 ? `in ${goQuoteList([...accepted].sort())}` : goQuote(only)
  throw new InvalidToken(`oidc: expected audience ${expected} got ${goQuoteList(audience)}`)
}

function confirmTimes({ expiry, notBefore }: Pick<IDToken, "expiry" | "notBefore">): void {
  const now = Date.now()
  if (expiry === undefined || expiry * 1000 < now)
    throw new InvalidToken(`oidc: token is expired (Token Expiry: ${printTime(expiry ?? zeroTime)})`)
  if (notBefore === undefined || now + leewayMs >= notBefore * 1000) return
  const times = `${printTime(now / 1000)} before the nbf (not before) time: ${printTime(notBefore)}`
  throw new InvalidToken(`oidc: current time ${times}`)
}

/** The first and the last second that are printed with four digits of the year; the first is Go's zero time. */
const zeroTime = -62_135_596_800
const lastTime = 253_402_300_799

/** In Go's print format, of seconds since the epoch. */
function printTime(seconds: number): string {
  if (seconds === -Infinity) return "292277026596-12-04 15:30:08 +0000 UTC" // the earliest one of 64 bits
  const printable = Math.min(Math.max(Math.trunc(seconds), zeroTime), lastTime)
  return `${new Date(printable * 1000).toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`
}

/** A key may have been replaced under its name. */
async function signedPayload(token: string, verifying: Verifying): Promise<Uint8Array> {
  try {
    return await payloadOf(token, verifying).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWSSignatureVerificationFailed) || !(await verifying.keys.refresh())) throw error
      return payloadOf(token, verifying)
    })
  } catch (error) {
    const fail = (reason: string): InvalidToken => new InvalidToken(reason, { cause: error })
    if (error instanceof errors.JWSInvalid) throw fail("oidc: malformed jwt")
    if (error instanceof errors.JOSEAlgNotAllowed) throw fail(unsupported)
    if (error instanceof errors.JOSEError) throw fail("failed to verify signature: failed to verify id token signature")
    throw error
  }
}

const unsupported = `oidc: id token signed with unsupported algorithm, expected ${goQuoteList(algorithms)}`

/** A token need not name its key: then every key that it may be signed with is tried. */
async function payloadOf(token: string, { keys, aside }: Verifying): Promise<Uint8Array> {
  try {
    return await verify(token, keys.keyOf, aside)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > maxTriedKeys) break
      const verified = await verify(token, () => key, aside).catch((wrong: unknown) => {
        if (wrong instanceof errors.JWSSignatureVerificationFailed) return undefined
        throw wrong
      })
      if (verified !== undefined) return verified
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** The keys are the issuer's choice, and some take as long as a hundred others. No place is held while a key is fetched. */
async function verify(token: string, keyOf: CompactVerifyGetKey, aside: Aside): Promise<Uint8Array> {
  const verified = Promise.withResolvers<void>()
  const findKey: CompactVerifyGetKey = async (header, input) => {
    const key = await keyOf(header, input)
    await new Promise<void>((begin) => {
      void aside(() => {
        begin()
        return verified.promise
      })
    })
    return key
  }
  try {
    return (await compactVerify(token, findKey, { algorithms })).payload
  } finally {
    verified.resolve()
  }
}
