// The additional issuers whose JWTs a tenant accepts: an AuthenticationConfiguration of Kubernetes (apiserver.config.k8s.io) in the
// tenant's ConfigMap kube-system/authentication-configuration, field config.yaml. Supported: jwt with claims; not supported:
// expressions, anonymous. Source: k8s.io/apiserver/pkg/apis/apiserver.

import { repeats } from "../../../apimachinery/repeats.ts"
import { parse } from "yaml"
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"

export const configurationName = "authentication-configuration"
export const configurationField = "config.yaml"

interface ClaimOrExpression {
  claim?: string
  prefix?: string
  expression?: string
}

export interface JWTAuthenticator {
  issuer: {
    url: string
    /** The URL of the issuer's document, if it is not below the issuer's URL. */
    discoveryURL?: string
    /** PEM. */
    certificateAuthority?: string
    audiences: string[]
    audienceMatchPolicy?: string
  }
  claimValidationRules?: { claim?: string; requiredValue?: string; expression?: string; message?: string }[]
  claimMappings: { username: ClaimOrExpression; groups?: ClaimOrExpression; uid?: ClaimOrExpression; extra?: unknown[] }
  userValidationRules?: unknown[]
}

interface Configuration {
  apiVersion?: string
  kind?: string
  jwt?: JWTAuthenticator[]
  anonymous?: unknown
}

const kind = "AuthenticationConfiguration"
const apiVersions = ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"]

const authenticationLimits = {
  /** Maximum size of the text. */
  maxBytes: 64 * 1024,
  /** As kube-apiserver's. */
  maxAuthenticators: 64,
} as const

/** One of the two lists is empty. */
export function parseConfiguration(text: string): {
  authenticators: readonly JWTAuthenticator[]
  errors: FieldError[]
} {
  const at = FieldPath.root("data").key(configurationField)
  const fail = (error: FieldError) => ({ authenticators: [], errors: [error] })
  if (text.length > authenticationLimits.maxBytes) {
    return fail(invalidValue(at, "<omitted>", `must have at most ${authenticationLimits.maxBytes} bytes`))
  }
  let configuration: unknown
  try {
    configuration = parse(text)
  } catch (error) {
    return fail(invalidValue(at, "<omitted>", `is no YAML: ${(error as Error).message.split("\n")[0]}`))
  }
  if (!isMapping(configuration)) return fail(invalidValue(at, "<omitted>", `must be an ${kind}`))
  const errors = validate(configuration)
  return errors.length > 0
    ? { authenticators: [], errors }
    : { authenticators: (configuration as Configuration).jwt ?? [], errors }
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

const textsOnly = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

function validate(configuration: Record<string, unknown>): FieldError[] {
  const root = (name: string): FieldPath => FieldPath.root(name)
  const { apiVersion, kind: given, jwt = [], anonymous, ...unknown } = configuration
  const errors: FieldError[] = []
  if (given !== kind) errors.push(notSupported(root("kind"), shown(given), [kind]))
  if (typeof apiVersion !== "string" || !apiVersions.includes(apiVersion)) {
    errors.push(notSupported(root("apiVersion"), shown(apiVersion), apiVersions))
  }
  if (anonymous !== undefined) errors.push(invalidValue(root("anonymous"), "<omitted>", "is not supported here"))
  errors.push(...Object.keys(unknown).map((name) => invalidValue(root(name), "<omitted>", "unknown field")))
  if (!Array.isArray(jwt)) return [...errors, invalidValue(root("jwt"), "<omitted>", "must be a list")]
  if (jwt.length > authenticationLimits.maxAuthenticators) {
    const detail = `must have at most ${authenticationLimits.maxAuthenticators} items`
    return [...errors, invalidValue(root("jwt"), jwt.length, detail)]
  }
  const urls = new Set<string>()
  for (const [index, authenticator] of jwt.entries()) {
    const at = root("jwt").index(index)
    if (!isMapping(authenticator)) {
      errors.push(invalidValue(at, "<omitted>", "must be a mapping"))
      continue
    }
    errors.push(...validateAuthenticator(at, authenticator))
    const url = isMapping(authenticator["issuer"]) ? shown(authenticator["issuer"]["url"]) : ""
    if (url !== "" && urls.has(url)) errors.push(duplicate(at.child("issuer", "url"), url))
    urls.add(url)
  }
  return errors
}

function validateAuthenticator(at: FieldPath, given: Record<string, unknown>): FieldError[] {
  const { issuer, claimValidationRules = [], claimMappings, userValidationRules, ...unknown } = given
  const errors = Object.keys(unknown).map((name) => invalidValue(at.child(name), "<omitted>", "unknown field"))
  errors.push(...(isMapping(issuer) ? validateIssuer(at.child("issuer"), issuer) : [required(at.child("issuer"))]))
  if (!Array.isArray(claimValidationRules))
    errors.push(invalidValue(at.child("claimValidationRules"), "<omitted>", "must be a list"))
  else
    errors.push(
      ...claimValidationRules.flatMap((rule, index) =>
        validateRule(at.child("claimValidationRules").index(index), rule),
      ),
    )
  if (userValidationRules !== undefined) errors.push(expressions(at.child("userValidationRules")))
  if (!isMapping(claimMappings)) return [...errors, required(at.child("claimMappings"))]
  return [...errors, ...validateMappings(at.child("claimMappings"), claimMappings)]
}

const expressions = (at: FieldPath): FieldError => invalidValue(at, "<omitted>", "expressions are not supported here")

function validateIssuer(at: FieldPath, issuer: Record<string, unknown>): FieldError[] {
  const { url, discoveryURL, certificateAuthority, audiences, audienceMatchPolicy, ...unknown } = issuer
  const errors = Object.keys(unknown).map((name) => invalidValue(at.child(name), "<omitted>", "unknown field"))
  if (typeof url !== "string" || url === "") errors.push(required(at.child("url")))
  else errors.push(...validateURL(at.child("url"), url))
  if (discoveryURL !== undefined) errors.push(...validateURL(at.child("discoveryURL"), shown(discoveryURL)))
  if (certificateAuthority !== undefined && !shown(certificateAuthority).includes("-----BEGIN CERTIFICATE-----")) {
    errors.push(invalidValue(at.child("certificateAuthority"), "<omitted>", "must be a certificate in PEM"))
  }
  const place = at.child("audiences")
  if (!textsOnly(audiences) || audiences.length === 0) {
    errors.push(required(place, `at least one ${place.toString()} is required`))
  } else {
    const repeated = repeats(audiences)
    for (const [index, audience] of audiences.entries()) {
      if (audience === "") errors.push(required(place.index(index)))
      else if (repeated.has(index)) errors.push(duplicate(place.index(index), audience))
    }
    if (audiences.length > 1 && audienceMatchPolicy !== "MatchAny") {
      const detail = "audienceMatchPolicy must be MatchAny for multiple audiences"
      errors.push(invalidValue(at.child("audienceMatchPolicy"), audienceMatchPolicy ?? "", detail))
    }
  }
  return errors
}

function validateURL(at: FieldPath, text: string): FieldError[] {
  if (!URL.canParse(text)) return [invalidValue(at, text, "must be a URL")]
  const url = new URL(text)
  const errors: FieldError[] = []
  if (url.protocol !== "https:") errors.push(invalidValue(at, text, "URL scheme must be https"))
  if (url.username !== "") errors.push(invalidValue(at, text, "URL must not contain a username or password"))
  if (url.search !== "") errors.push(invalidValue(at, text, "URL must not contain a query"))
  if (url.hash !== "") errors.push(invalidValue(at, text, "URL must not contain a fragment"))
  return errors
}

function validateRule(at: FieldPath, rule: unknown): FieldError[] {
  if (!isMapping(rule)) return [invalidValue(at, "<omitted>", "must be a mapping")]
  if (rule["expression"] !== undefined) return [expressions(at.child("expression"))]
  const { claim, requiredValue } = rule
  if (typeof claim !== "string" || claim === "") return [required(at, "claim or expression is required")]
  return requiredValue === undefined || typeof requiredValue === "string"
    ? []
    : [invalidValue(at.child("requiredValue"), "<omitted>", "must be a text")]
}

function validateMappings(at: FieldPath, mappings: Record<string, unknown>): FieldError[] {
  const { username, groups, uid, extra } = mappings
  return [
    ...validateClaim(at.child("username"), username, { isRequired: true, withPrefix: true }),
    ...(groups === undefined ? [] : validateClaim(at.child("groups"), groups, { isRequired: false, withPrefix: true })),
    ...(uid === undefined ? [] : validateClaim(at.child("uid"), uid, { isRequired: false, withPrefix: false })),
    ...(extra === undefined ? [] : [expressions(at.child("extra"))]),
  ]
}

function validateClaim(
  at: FieldPath,
  given: unknown,
  { isRequired, withPrefix }: { isRequired: boolean; withPrefix: boolean },
): FieldError[] {
  const { claim, prefix, expression } = isMapping(given) ? given : {}
  if (expression !== undefined) return [expressions(at.child("expression"))]
  if (typeof claim !== "string" || claim === "") {
    return isRequired ? [required(at, "claim or expression is required")] : []
  }
  if (!withPrefix || typeof prefix === "string") return []
  const detail = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
  return [required(at.child("prefix"), detail)]
}
