// Validates authenticators and compiles their expressions, in upstream's order. Source:
// k8s.io/apiserver/pkg/apis/apiserver/validation.

import {
  asJson,
  duplicate,
  type FieldError,
  FieldPath,
  invalidValue,
  required,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { parseUrl, urlFault } from "../../../apimachinery/go/url.ts"
import { repeats } from "../../../apimachinery/repeats.ts"
import { certificatesFault } from "../../pki/authorities.ts"
import { domainPrefixedPath } from "../../registry/validation/values.ts"
import { type Compiled, type CompiledAuthenticator, compileClaims, compileUser, readsClaim } from "./expressions.ts"
import type { ClaimMappings, ClaimOrExpression, ClaimRule, Issuer, JWTAuthenticator, UserRule } from "./types.ts"

const maxAuthenticators = 64

export function validateAuthenticators(
  jwt: readonly JWTAuthenticator[],
  ownIssuer: string,
): { authenticators: CompiledAuthenticator[]; errors: FieldError[] } {
  const root = FieldPath.root("jwt")
  if (jwt.length > maxAuthenticators)
    return { authenticators: [], errors: [tooMany(root, jwt.length, maxAuthenticators)] }
  const repeatedURLs = repeats(jwt.map(({ issuer }) => issuer?.url ?? ""))
  const repeatedDiscovery = repeats(jwt.map(({ issuer }) => issuer?.discoveryURL ?? ""))
  const errors: FieldError[] = []
  const authenticators = jwt.map((given, index) => {
    const [at, { url = "", discoveryURL = "" }] = [root.index(index), given.issuer ?? {}]
    const compiling = new Compiling()
    errors.push(
      ...issuerErrors(at.child("issuer"), given.issuer ?? {}, ownIssuer),
      ...compiling.claimRules(at.child("claimValidationRules"), given.claimValidationRules ?? []),
      ...compiling.mappings(at.child("claimMappings"), given.claimMappings ?? {}),
      ...compiling.userRules(at.child("userValidationRules"), given.userValidationRules ?? []),
    )
    if (repeatedURLs.has(index)) errors.push(duplicate(at.child("issuer", "url"), url))
    if (discoveryURL !== "" && repeatedDiscovery.has(index))
      errors.push(duplicate(at.child("issuer", "discoveryURL"), discoveryURL))
    const issuer = { ...given.issuer, url, audiences: given.issuer?.audiences ?? [] }
    return { given: { ...given, issuer }, ...compiling.compiled }
  })
  return { authenticators, errors }
}

function issuerErrors(at: FieldPath, issuer: Issuer, ownIssuer: string): FieldError[] {
  const { url = "", discoveryURL = "", audiences = [], audienceMatchPolicy = "", egressSelectorType = "" } = issuer
  const errors = url === "" ? [required(at.child("url"))] : urlErrors(at.child("url"), url, ownIssuer)
  if (discoveryURL !== "") {
    const place = at.child("discoveryURL")
    const bare = (text: string): string => text.replace(/(?<!\/)\/+$/, "")
    if (url !== "" && bare(url) === bare(discoveryURL))
      errors.push(invalidValue(place, discoveryURL, "discoveryURL must be different from URL"))
    errors.push(...urlErrors(place, discoveryURL))
  }
  errors.push(...audienceErrors(at, audiences, audienceMatchPolicy))
  const fault = certificatesFault(issuer.certificateAuthority ?? "")
  if (fault !== undefined) errors.push(invalidValue(at.child("certificateAuthority"), "<omitted>", fault))
  if (egressSelectorType !== "") {
    const isKnown = ["controlplane", "cluster"].includes(egressSelectorType)
    const detail = isKnown ? "is not supported here" : "egress selector must be either controlplane or cluster"
    errors.push(invalidValue(at.child("egressSelectorType"), asJson(egressSelectorType), detail))
  }
  return errors
}

function urlErrors(at: FieldPath, text: string, disallowed?: string): FieldError[] {
  const errors: FieldError[] = []
  const wrong = (detail: string): number => errors.push(invalidValue(at, text, detail))
  if (text === disallowed) wrong(`URL must not overlap with disallowed issuers: [${disallowed}]`)
  const fault = urlFault(text, "reference")
  if (fault !== undefined) {
    wrong(fault)
    return errors
  }
  const { scheme, user, query = "", fragment } = parseUrl(text, "reference")
  if (scheme !== "https") wrong("URL scheme must be https")
  if (user !== undefined) wrong("URL must not contain a username or password")
  if (query !== "") wrong("URL must not contain a query")
  if (fragment !== "") wrong("URL must not contain a fragment")
  return errors
}

function audienceErrors(at: FieldPath, audiences: readonly string[], policy: string): FieldError[] {
  const place = at.child("audiences")
  if (audiences.length === 0) return [required(place, `at least one ${place.toString()} is required`)]
  const errors: FieldError[] = []
  const repeated = repeats(audiences)
  for (const [index, audience] of audiences.entries()) {
    if (audience === "") errors.push(required(place.index(index)))
    if (repeated.has(index)) errors.push(duplicate(place.index(index), audience))
  }
  if (policy === "MatchAny" || (policy === "" && audiences.length === 1)) return errors
  const detail = audiences.length > 1 ? "MatchAny for multiple audiences" : "empty or MatchAny for single audience"
  errors.push(invalidValue(at.child("audienceMatchPolicy"), asJson(policy), `audienceMatchPolicy must be ${detail}`))
  return errors
}

const needsClaim = "claim or expression is required"
const needsPrefix = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
const notBoth = "claim and expression can't both be set"
const needsVerified =
  "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or " +
  "claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression"

/** The expressions of one authenticator. */
class Compiling {
  readonly compiled: {
    username?: Compiled
    groups?: Compiled
    uid?: Compiled
    extra: (Compiled & { key: string })[]
    claimRules: (Compiled & { message: string })[]
    userRules: (Compiled & { message: string })[]
  } = { extra: [], claimRules: [], userRules: [] }

  claimRules(path: FieldPath, rules: readonly ClaimRule[]): FieldError[] {
    const [claims, expressions] = [new Set<string>(), new Set<string>()]
    return rules.flatMap((rule, index) => {
      const at = path.index(index)
      const { claim = "", requiredValue = "", expression = "", message = "" } = rule
      if (claim !== "" && expression !== "") return [invalidValue(at, claim, notBoth)]
      if (claim === "" && expression === "") return [required(at, needsClaim)]
      if (claim !== "") return claimRuleErrors(at, claim, message, claims)
      const errors: FieldError[] = []
      if (requiredValue !== "") {
        const detail = "may not be specified when expression is set"
        errors.push(invalidValue(at.child("requiredValue"), requiredValue, detail))
      }
      if (isAgain(expressions, expression)) return [...errors, duplicate(at.child("expression"), expression)]
      const { compiled, errors: faults } = compileClaims(at.child("expression"), expression, "condition")
      if (compiled !== undefined) this.compiled.claimRules.push({ ...compiled, message })
      return [...errors, ...faults]
    })
  }

  mappings(at: FieldPath, { username = {}, groups = {}, uid = {}, extra = [] }: ClaimMappings): FieldError[] {
    const errors = [
      ...this.#mapping(at.child("username"), username, "username"),
      ...this.#mapping(at.child("groups"), groups, "groups"),
      ...this.#uid(at.child("uid"), uid),
      ...this.#extra(at.child("extra"), extra),
    ]
    const { username: name, extra: values, claimRules } = this.compiled
    if (name === undefined || !readsClaim(name, "email")) return errors
    if ([name, ...values, ...claimRules].some((one) => readsClaim(one, "email_verified"))) return errors
    return [...errors, invalidValue(at.child("username", "expression"), name.expression, needsVerified)]
  }

  #mapping(at: FieldPath, mapping: ClaimOrExpression, as: "username" | "groups"): FieldError[] {
    const { claim = "", expression = "", prefix } = mapping
    if (claim !== "" && expression !== "") return [invalidValue(at, "", notBoth)]
    const hasPrefix = typeof prefix === "string"
    if (claim !== "") return hasPrefix ? [] : [required(at.child("prefix"), needsPrefix)]
    if (expression === "") return as === "username" ? [required(at, needsClaim)] : []
    const detail = "may not be specified when expression is set"
    const errors = hasPrefix ? [invalidValue(at.child("prefix"), prefix, detail)] : []
    const { compiled, errors: faults } = compileClaims(at.child("expression"), expression, "value")
    // Upstream looks no further into one that is wrong in either way.
    if (compiled !== undefined && errors.length === 0) this.compiled[as] = compiled
    return [...errors, ...faults]
  }

  #uid(at: FieldPath, { claim = "", expression = "" }: ClaimOrExpression): FieldError[] {
    if (claim !== "" && expression !== "") return [invalidValue(at, "", notBoth)]
    if (expression === "") return []
    const { compiled, errors } = compileClaims(at.child("expression"), expression, "value")
    if (compiled !== undefined) this.compiled.uid = compiled
    return errors
  }

  #extra(path: FieldPath, extra: NonNullable<ClaimMappings["extra"]>): FieldError[] {
    const keys = new Set<string>()
    return extra.flatMap(({ key = "", valueExpression = "" }, index) => {
      const at = path.index(index)
      const errors = keyErrors(at.child("key"), key)
      if (isAgain(keys, key)) return [...errors, duplicate(at.child("key"), key)]
      if (valueExpression === "") return [...errors, required(at.child("valueExpression"))]
      const { compiled, errors: faults } = compileClaims(at.child("valueExpression"), valueExpression, "value")
      if (compiled !== undefined) this.compiled.extra.push({ ...compiled, key })
      return [...errors, ...faults]
    })
  }

  userRules(path: FieldPath, rules: readonly UserRule[]): FieldError[] {
    const expressions = new Set<string>()
    return rules.flatMap(({ expression = "", message = "" }, index) => {
      const at = path.index(index).child("expression")
      if (expression === "") return [required(at)]
      if (isAgain(expressions, expression)) return [duplicate(at, expression)]
      const { compiled, errors } = compileUser(at, expression)
      if (compiled !== undefined) this.compiled.userRules.push({ ...compiled, message })
      return errors
    })
  }
}

/** Adds it if it is not. */
function isAgain(seen: Set<string>, text: string): boolean {
  const before = seen.size
  return seen.add(text).size === before
}

function claimRuleErrors(at: FieldPath, claim: string, message: string, claims: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  if (message !== "") errors.push(invalidValue(at.child("message"), message, "may not be specified when claim is set"))
  if (isAgain(claims, claim)) errors.push(duplicate(at.child("claim"), claim))
  return errors
}

function keyErrors(at: FieldPath, key: string): FieldError[] {
  const errors = domainPrefixedPath(at, key)
  if (key !== key.toLowerCase()) errors.push(invalidValue(at, key, "must be lowercase"))
  const [domain = "", ...rest] = key.split("/")
  if (rest.length > 0 && /(^|\.)(kubernetes|k8s)\.io$/.test(domain)) {
    const detail = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
    errors.push(invalidValue(at, key, detail))
  }
  return errors
}
