// The claims that every ID token has, with the types that upstream reads them with. Source: github.com/coreos/go-oidc (oidc.go,
// verify.go), encoding/json.

import { goQuote } from "../../../apimachinery/go/quote.ts"
import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject, ownValue } from "../../../apimachinery/schema/json-object.ts"
import { InvalidToken } from "./invalid-token.ts"
import { cannotUnmarshal } from "./json-types.ts"

/** Where a claim is that is not in the token. */
export interface ClaimSource {
  endpoint: string
  accessToken: string
}

export interface IDToken {
  claims: JsonObject
  audience: string[]
  /** Seconds since the epoch. */
  expiry: number | undefined
  notBefore: number | undefined
}

/** Throws InvalidToken. */
export function readIDToken(payload: Uint8Array): IDToken {
  const claims = parsed(payload)
  const faults = Object.entries(claims).flatMap(([name, value]) => faultOf(name, value))
  // Like Go, which reads on after a value of another type.
  const fault = faults.find(({ isFinal }) => isFinal) ?? faults[0]
  if (fault !== undefined) throw new InvalidToken(`oidc: failed to unmarshal claims: ${fault.reason}`)
  const { _claim_names: names } = claims
  for (const source of isObject(names) ? Object.values(names) : []) {
    if (source === "" || source === null) throw new InvalidToken("oidc: failed to obtain source from claim name")
    if (typeof source === "string" && sourceOf(claims, source) === undefined)
      throw new InvalidToken("oidc: source does not exist")
  }
  const { aud = [], exp, nbf, iat } = claims
  secondsOf(iat) // throws; nobody asks for more
  const audience = (Array.isArray(aud) ? aud : [aud]).map((one) => (one ?? "") as string)
  return { claims, audience, expiry: secondsOf(exp), notBefore: secondsOf(nbf) }
}

/** Undefined if the token has none of that name. */
export function sourceOf({ _claim_sources: sources }: JsonObject, name: string): ClaimSource | undefined {
  const source = isObject(sources) ? ownValue(sources, name) : undefined
  if (source === undefined) return undefined
  const { endpoint, access_token: accessToken } = isObject(source) ? source : {}
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "")
  return { endpoint: text(endpoint), accessToken: text(accessToken) }
}

function parsed(payload: Uint8Array): JsonObject {
  try {
    const claims = JSON.parse(Buffer.from(payload).toString()) as Json
    if (isObject(claims)) return claims
    throw new InvalidToken(`oidc: failed to unmarshal claims: ${cannotUnmarshal(claims, "value of type oidc.idToken")}`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new InvalidToken("oidc: failed to unmarshal claims", { cause: error })
  }
}

interface Fault {
  reason: string
  isFinal: boolean
}

function faultOf(name: string, value: Json): Fault[] {
  const typeFault = (wrong: Json, type: string): Fault => ({
    reason: cannotUnmarshal(wrong, `struct field idToken.${name} of type ${type}`),
    isFinal: name === "aud" || type === "json.Number",
  })
  switch (name) {
    case "iss":
    case "sub":
    case "nonce":
    case "at_hash":
      return isTextOrNull(value) ? [] : [typeFault(value, "string")]
    case "aud":
      return audienceFault(value, typeFault)
    case "exp":
    case "iat":
    case "nbf":
      return timeFault(name, value, typeFault)
    case "_claim_names":
      return (
        mapFaults(value, (entry) => (isTextOrNull(entry) ? [] : [typeFault(entry, "string")])) ?? [
          typeFault(value, "map[string]string"),
        ]
      )
    case "_claim_sources":
      return (
        mapFaults(value, (entry) =>
          isObject(entry) || entry === null ? [] : [typeFault(entry, "oidc.claimSource")],
        ) ?? [typeFault(value, "map[string]oidc.claimSource")]
      )
    default:
      return []
  }
}

const isTextOrNull = (value: Json): boolean => typeof value === "string" || value === null

type TypeFault = (wrong: Json, type: string) => Fault

function audienceFault(value: Json, typeFault: TypeFault): Fault[] {
  if (isTextOrNull(value)) return []
  if (!Array.isArray(value)) return [typeFault(value, "[]string")]
  const wrong = value.find((one) => !isTextOrNull(one))
  return wrong === undefined ? [] : [typeFault(wrong, "string")]
}

/** A number in a text counts as one. */
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function timeFault(name: string, value: Json, typeFault: TypeFault): Fault[] {
  if (typeof value === "number" || (value === null && name === "nbf")) return []
  if (value === null) return [{ reason: `strconv.ParseFloat: parsing "": invalid syntax`, isFinal: true }]
  if (typeof value !== "string") return [typeFault(value, "json.Number")]
  if (numberPattern.test(value)) return []
  const literal = goQuote(JSON.stringify(value))
  return [{ reason: `json: invalid number literal, trying to unmarshal ${literal} into Number`, isFinal: true }]
}

function mapFaults(value: Json, faultsOf: (entry: Json) => Fault[]): Fault[] | undefined {
  if (value === null) return []
  return isObject(value) ? Object.values(value).flatMap(faultsOf) : undefined
}

/** From here on, Go's time wraps around: it counts from the year 1, in 64 bits. */
const wrapsFrom = 2 ** 63 - 62_135_596_800

/** -Infinity: Go's time has wrapped around, and is long past. */
function secondsOf(value: Json | undefined): number | undefined {
  if (value === undefined || value === null) return undefined
  const seconds = Math.trunc(Number(value))
  if (Math.abs(seconds) === Infinity) throw new InvalidToken("oidc: failed to unmarshal claims: value out of range")
  return seconds >= wrapsFrom || seconds < -(2 ** 63) ? -Infinity : seconds
}
