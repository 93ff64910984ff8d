// Verifies a JWT of an issuer: signature, audience and validity period, in the order and with the reasons of upstream.
// Source: github.com/coreos/go-oidc (verify.go, jwks.go) and k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import { decodeProtectedHeader } from "jose/decode/protected_header"
import * as errors from "jose/errors"
import { compactVerify } from "jose/jws/compact/verify"
import { goQuote, goQuoteList } from "../../../apimachinery/go/quote.ts"
import type { JsonObject } from "../../../apimachinery/schema/json-object.ts"
import { type IDToken, readIDToken } from "./id-token-claims.ts"
import { InvalidToken } from "./invalid-token.ts"
import { algorithms, type IssuerKey } from "./issuer-key.ts"
import type { IssuerKeys } from "./issuer-keys.ts"

/** Keys of an issuer that a token is compared with which does not name one: an issuer may have hundreds. */
const maxTriedKeys = 32

/** How far the clock of the issuer may be ahead; there is no leeway for the end of a token. */
const leewayMs = 60_000

export interface Verifying {
  /** Of the issuer. */
  keys: Pick<IssuerKeys, "current" | "refresh">
  /** For verifying with keys that are dear. */
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

async function signedPayload(token: string, { keys, aside }: Verifying): Promise<Uint8Array> {
  try {
    const header = headerOf(token)
    const verify = (published: readonly IssuerKey[]) => payloadOf(token, matching(published, header), aside)
    const tried = await keys.current()
    // The keys may have been replaced, also under the same names.
    return await verify(tried).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWSSignatureVerificationFailed) || !(await keys.refresh(tried))) throw error
      return verify(await keys.current())
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

interface Header {
  algorithm: string
  keyId: unknown
}

function headerOf(token: string): Header {
  const { alg, kid } = decoded(token)
  if (typeof alg !== "string") throw new errors.JWSInvalid("the token names no algorithm")
  if (!algorithms.includes(alg)) throw new errors.JOSEAlgNotAllowed(`the token is signed with ${alg}`)
  return { algorithm: alg, keyId: kid }
}

function decoded(token: string): { alg?: unknown; kid?: unknown } {
  try {
    return decodeProtectedHeader(token)
  } catch (cause) {
    throw new errors.JWSInvalid("the token has no header", { cause })
  }
}

/** A token need not name its key: then it may be any that it may be signed with. */
function matching(keys: readonly IssuerKey[], { algorithm, keyId = "" }: Header): IssuerKey[] {
  return keys.filter((key) => key.algorithms.includes(algorithm) && (keyId === "" || keyId === key.id))
}

/** The next key is tried whatever is wrong with one, unless it is the token. */
async function payloadOf(token: string, keys: readonly IssuerKey[], aside: Aside): Promise<Uint8Array> {
  let cause: unknown
  for (const { object, isDear } of keys.slice(0, maxTriedKeys)) {
    const verify = () => compactVerify(token, object, { algorithms: [...algorithms] })
    try {
      return (await (isDear ? aside(verify) : verify())).payload
    } catch (error) {
      if (error instanceof errors.JWSInvalid) throw error
      cause = error
    }
  }
  throw new errors.JWSSignatureVerificationFailed("no key matches", { cause })
}
