// The user that verified claims identify. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import type { JWTPayload } from "jose"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { ownValue } from "../../../apimachinery/schema/json-object.ts"
import type { User } from "../../request/user.ts"
import type { JWTAuthenticator } from "./configuration.ts"
import { InvalidToken } from "./id-token.ts"

type Mappings = JWTAuthenticator["claimMappings"]

/** Throws InvalidToken, which names the claim. */
export function userOf({ claimMappings, claimValidationRules = [] }: JWTAuthenticator, claims: JWTPayload): User {
  const { username, groups, uid } = claimMappings
  const name = usernameOf(username, claims)
  const of = groupsOf(groups, claims)
  const id = uid?.claim ? textOf(claims, uid.claim, `parse uid claim ${goQuote(uid.claim)}`) : ""
  for (const { claim = "", requiredValue = "" } of claimValidationRules) confirmClaim(claims, claim, requiredValue)
  const { jti } = claims as { jti?: unknown }
  const isIdentified = typeof jti === "string" && jti !== ""
  return {
    name,
    ...(id === "" ? {} : { uid: id }),
    groups: of,
    extra: isIdentified ? { "authentication.kubernetes.io/credential-id": [`JTI=${jti}`] } : {},
  }
}

function usernameOf({ claim = "", prefix = "" }: Mappings["username"], claims: JWTPayload): string {
  const name = textOf(claims, claim, `parse username claims ${goQuote(claim)}`)
  // Upstream would accept a user without a name.
  if (name === "") throw new InvalidToken(`parse username claims ${goQuote(claim)}: claim is empty`)
  const verified = ownValue(claims, "email_verified")
  if (claim === "email" && verified !== undefined) {
    if (typeof verified !== "boolean")
      throw new InvalidToken(`parse 'email_verified' claim: ${cannotUnmarshal(verified, "bool")}`)
    if (!verified) throw new InvalidToken("email not verified")
  }
  return `${prefix}${name}`
}

/** A single string or a list of strings. */
function groupsOf({ claim = "", prefix = "" }: NonNullable<Mappings["groups"]> = {}, claims: JWTPayload): string[] {
  const value = claim === "" ? undefined : ownValue(claims, claim)
  if (value === undefined) return []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  const wrong = list.find((item) => typeof item !== "string")
  if (wrong !== undefined)
    throw new InvalidToken(`parse groups claim ${goQuote(claim)}: ${cannotUnmarshal(value, "string")}`)
  return (list as string[]).map((group) => `${prefix}${group}`)
}

function confirmClaim(claims: JWTPayload, claim: string, wanted: string): void {
  if (ownValue(claims, claim) === undefined) throw new InvalidToken(`required claim ${claim} not present in ID token`)
  const value = textOf(claims, claim, `parse claim ${claim}`)
  if (value !== wanted)
    throw new InvalidToken(`required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`)
}

function textOf(claims: JWTPayload, claim: string, action: string): string {
  const value = ownValue(claims, claim)
  if (value === undefined) throw new InvalidToken(`${action}: claim not present`)
  if (typeof value !== "string") throw new InvalidToken(`${action}: ${cannotUnmarshal(value, "string")}`)
  return value
}

/** Go's error for a JSON value of another type. */
function cannotUnmarshal(value: unknown, type: string): string {
  const given = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value
  return `json: cannot unmarshal ${given} into Go value of type ${type}`
}
