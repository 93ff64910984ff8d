// The user that verified claims identify. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import { goQuote } from "../../../apimachinery/go/quote.ts"
import { type JsonObject, ownValue } from "../../../apimachinery/schema/json-object.ts"
import type { Value } from "../../../apimachinery/cel/values.ts"
import type { User } from "../../request/user.ts"
import type { ClaimOrExpression } from "./types.ts"
import { type Compiled, type CompiledAuthenticator, Evaluation, type Pause, textsIn } from "./expressions.ts"
import { InvalidToken } from "./invalid-token.ts"
import { cannotUnmarshal } from "./json-types.ts"
import { claimsValue, userValue } from "./values.ts"

/** Throws InvalidToken, which names the claim or the expression. */
export async function userOf(authenticator: CompiledAuthenticator, claims: JsonObject, pause: Pause): Promise<User> {
  const reader = new ClaimReader(authenticator, claims, pause)
  const name = await reader.username()
  const groups = await reader.groups()
  const uid = await reader.uid()
  const user = { name, ...(uid === "" ? {} : { uid }), groups, extra: await reader.extra() }
  for (const { claim = "", requiredValue = "" } of authenticator.given.claimValidationRules ?? [])
    if (claim !== "") confirmClaim(claims, claim, requiredValue)
  await reader.confirmClaims()
  await reader.confirmUser(user)
  return user
}

const notTexts = "expression must return a string or a list of strings"

class ClaimReader {
  readonly #authenticator: CompiledAuthenticator
  readonly #claims: JsonObject
  readonly #value: Value
  readonly #evaluation: Evaluation

  constructor(authenticator: CompiledAuthenticator, claims: JsonObject, pause: Pause) {
    this.#authenticator = authenticator
    this.#claims = claims
    this.#evaluation = new Evaluation(pause)
    this.#value = claimsValue(claims)
  }

  #evaluate(compiled: Compiled, action: string): Promise<Value> {
    return this.#evaluation.run(compiled, "claims", this.#value, action)
  }

  #all<T extends Compiled>(expressions: readonly T[], action: string): Promise<{ of: T; value: Value }[]> {
    return each(expressions, (one) => this.#evaluate(one, action))
  }

  async username(): Promise<string> {
    const { username: compiled, given } = this.#authenticator
    if (compiled === undefined) return usernameIn(this.#claims, given.claimMappings?.username ?? {})
    const action = "oidc: error evaluating username claim expression: "
    const name = await this.#evaluate(compiled, action)
    if (typeof name !== "string") throw new InvalidToken(`${action}username claim expression must return a string`)
    if (name === "") throw new InvalidToken("oidc: empty username via CEL expression is not allowed")
    return name
  }

  async groups(): Promise<string[]> {
    const { groups: compiled, given } = this.#authenticator
    if (compiled === undefined) return groupsIn(this.#claims, given.claimMappings?.groups ?? {})
    const action = "oidc: error evaluating group claim expression: "
    const groups = textsIn(await this.#evaluate(compiled, action))
    if (groups === undefined) throw new InvalidToken(`${action}${notTexts}`)
    return groups
  }

  async uid(): Promise<string> {
    const { uid: compiled, given } = this.#authenticator
    const claim = given.claimMappings?.uid?.claim ?? ""
    if (claim !== "") return textOf(this.#claims, claim, `oidc: parse uid claim ${goQuote(claim)}`)
    if (compiled === undefined) return ""
    const action = "oidc: error evaluating uid claim expression: "
    const uid = await this.#evaluate(compiled, action)
    if (typeof uid !== "string") throw new InvalidToken(`${action}uid claim expression must return a string`)
    return uid
  }

  async extra(): Promise<Record<string, string[]>> {
    const jti = ownValue(this.#claims, "jti")
    const isIdentified = typeof jti === "string" && jti !== ""
    const extra: Record<string, string[]> = isIdentified
      ? { "authentication.kubernetes.io/credential-id": [`JTI=${jti}`] }
      : {}
    for (const { of, value } of await this.#all(this.#authenticator.extra, "")) {
      const values = textsIn(value)
      if (values === undefined)
        throw new InvalidToken(`oidc: error evaluating extra claim expression: ${of.expression}: ${notTexts}`)
      if (values.length > 0) extra[of.key] = values
    }
    return extra
  }

  async confirmClaims(): Promise<void> {
    const action = "oidc: error evaluating claim validation expression: "
    for (const { of, value } of await this.#all(this.#authenticator.claimRules, action)) confirm(value, of, action)
  }

  async confirmUser(user: User): Promise<void> {
    const action = "oidc: error evaluating user info validation rule: "
    const { userRules } = this.#authenticator
    if (userRules.length === 0) return
    const input = userValue(user)
    const evaluate = (rule: Compiled): Promise<Value> => this.#evaluation.run(rule, "user", input, action)
    for (const { of, value } of await each(userRules, evaluate)) confirm(value, of, action)
  }
}

/** A failure of any is told before what the others amount to. */
async function each<T extends Compiled>(
  expressions: readonly T[],
  evaluate: (expression: T) => Promise<Value>,
): Promise<{ of: T; value: Value }[]> {
  const found: { of: T; value: Value }[] = []
  for (const of of expressions) found.push({ of, value: await evaluate(of) })
  return found
}

function confirm(value: Value, { expression, message }: { expression: string; message: string }, action: string): void {
  if (value !== true) throw new InvalidToken(`${action}validation expression '${expression}' failed: ${message}`)
}

function usernameIn(claims: JsonObject, { claim = "", prefix }: ClaimOrExpression): string {
  const action = `oidc: parse username claims ${goQuote(claim)}`
  const name = textOf(claims, claim, action)
  // Upstream would accept a user without a name.
  if (name === "") throw new InvalidToken(`${action}: claim is empty`)
  const verified = ownValue(claims, "email_verified")
  if (claim === "email" && verified !== undefined) {
    if (typeof verified !== "boolean" && verified !== null)
      throw new InvalidToken(`oidc: parse 'email_verified' claim: ${cannotUnmarshal(verified, "value of type bool")}`)
    if (verified !== true) throw new InvalidToken("oidc: email not verified")
  }
  return `${prefix ?? ""}${name}`
}

/** A single text or a list of texts. As in Go, null is an empty one. */
function groupsIn(claims: JsonObject, { claim = "", prefix }: ClaimOrExpression): string[] {
  const value = claim === "" ? undefined : ownValue(claims, claim)
  if (value === undefined || value === null) return []
  const list = Array.isArray(value) ? value : [value]
  return list.map((group) => {
    if (typeof group === "string" || (group === null && Array.isArray(value))) return `${prefix ?? ""}${group ?? ""}`
    const fault = cannotUnmarshal(value, "value of type string")
    throw new InvalidToken(`oidc: parse groups claim ${goQuote(claim)}: ${fault}`)
  })
}

function confirmClaim(claims: JsonObject, claim: string, wanted: string): void {
  if (ownValue(claims, claim) === undefined)
    throw new InvalidToken(`oidc: required claim ${claim} not present in ID token`)
  const value = textOf(claims, claim, `oidc: parse claim ${claim}`)
  if (value !== wanted)
    throw new InvalidToken(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`)
}

/** As in Go, null is an empty text. */
function textOf(claims: JsonObject, claim: string, action: string): string {
  const value = ownValue(claims, claim)
  if (value === undefined) throw new InvalidToken(`${action}: claim not present`)
  if (value !== null && typeof value !== "string")
    throw new InvalidToken(`${action}: ${cannotUnmarshal(value, "value of type string")}`)
  return value ?? ""
}
