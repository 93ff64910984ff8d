// Authenticates JWTs of the issuers that a tenant has configured. Without configuration it costs nothing: the configuration is read
// when a token arrives that is not the tenant's own. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import { errors, jwtVerify, type JWTPayload } from "jose"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { unauthorized } from "../../../apimachinery/status.ts"
import type { Log } from "../../../client/log.ts"
import type { Backends } from "../../backends/backends.ts"
import type { ObjectView } from "../../registry/object-view.ts"
import type { User } from "../../request/user.ts"
import { tokenIssuer } from "../service-account-token.ts"
import type { Authenticator } from "../types.ts"
import { configurationField, configurationName, type JWTAuthenticator, parseConfiguration } from "./configuration.ts"
import { IssuerKeys } from "./issuer-keys.ts"

const algorithms = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"]

/** The key of the ConfigMap, for the view. */
export const configurationPrefix = `/registry/core/configmaps/kube-system/${configurationName}`

type ConfigMap = KubeObject & { data?: Record<string, string> }

export interface OIDCParts {
  view: ObjectView<ConfigMap>
  backends: Backends
  /** The audiences of requests that specify none. */
  apiAudiences: readonly string[]
  log: Log
}

/** The URLs of the configured issuers. */
export async function configuredIssuers(view: ObjectView<ConfigMap>): Promise<string[]> {
  const text = configurationIn(await view.current())
  return text === undefined ? [] : parseConfiguration(text).authenticators.map(({ issuer }) => issuer.url)
}

function configurationIn(objects: readonly ConfigMap[]): string | undefined {
  return objects.find(({ metadata }) => metadata.name === configurationName)?.data?.[configurationField]
}

interface Issuer {
  authenticator: JWTAuthenticator
  keys: IssuerKeys
}

export function createOIDCAuthenticator({ view, backends, apiAudiences, log }: OIDCParts): Authenticator {
  let seen: readonly ConfigMap[] | undefined
  let issuers = new Map<string, Issuer>()

  /** An issuer keeps its keys as long as its part of the configuration is unchanged. */
  async function issuerOf(url: string): Promise<Issuer | undefined> {
    const objects = await view.current()
    if (objects !== seen) {
      seen = objects
      const text = configurationIn(objects)
      const { authenticators, errors: faults } =
        text === undefined ? { authenticators: [], errors: [] } : parseConfiguration(text)
      if (faults.length > 0)
        log.warn({ error: faults[0]?.message() }, "a tenant's authentication configuration is wrong")
      const before = issuers
      issuers = new Map(authenticators.map((one) => [one.issuer.url, keep(before.get(one.issuer.url), one)]))
    }
    return issuers.get(url)
  }

  function keep(before: Issuer | undefined, authenticator: JWTAuthenticator): Issuer {
    const isSame = JSON.stringify(before?.authenticator.issuer) === JSON.stringify(authenticator.issuer)
    const keys = isSame && before !== undefined ? before.keys : new IssuerKeys(authenticator.issuer, backends)
    return { authenticator, keys }
  }

  return {
    async authenticate({ bearerToken }, audiences = apiAudiences) {
      const url = bearerToken === undefined ? undefined : tokenIssuer(bearerToken)
      if (bearerToken === undefined || url === undefined) return undefined
      const issuer = await issuerOf(url)
      if (issuer === undefined) return undefined
      const accepted = audiences.filter((audience) => apiAudiences.includes(audience))
      if (accepted.length === 0) return undefined
      try {
        return { user: userOf(issuer.authenticator, await verify(bearerToken, issuer)), audiences: accepted }
      } catch (error) {
        // The caller learns only that the token is invalid; the operator may need the reason.
        log.debug({ error: (error as Error).message, issuer: url }, "a token of a configured issuer was refused")
        throw unauthorized()
      }
    },
  }
}

async function verify(token: string, { authenticator, keys }: Issuer): Promise<JWTPayload> {
  const { url, audiences } = authenticator.issuer
  const options = { issuer: url, audience: audiences, algorithms, requiredClaims: ["exp"] }
  try {
    return (await jwtVerify(token, keys.keyOf, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWSSignatureVerificationFailed) || !(await keys.refresh())) throw error
    return (await jwtVerify(token, keys.keyOf, options)).payload
  }
}

/** Throws an Error that names the invalid claim. */
function userOf({ claimMappings, claimValidationRules = [] }: JWTAuthenticator, claims: JWTPayload): User {
  for (const { claim = "", requiredValue = "" } of claimValidationRules) {
    if (claims[claim] !== requiredValue) throw new Error(`claim ${claim} is not as required`)
  }
  const { username, groups, uid } = claimMappings
  const name = claims[username.claim ?? ""]
  if (typeof name !== "string" || name === "") throw new Error(`no claim ${username.claim}`)
  // As upstream: an unverified e-mail address proves nothing.
  const { email_verified: verified } = claims
  if (username.claim === "email" && verified !== undefined && verified !== true)
    throw new Error("email is not verified")
  const id = uid?.claim === undefined ? undefined : claims[uid.claim]
  return {
    name: `${username.prefix ?? ""}${name}`,
    ...(typeof id === "string" && id !== "" ? { uid: id } : {}),
    groups: groupsOf(claims[groups?.claim ?? ""]).map((group) => `${groups?.prefix ?? ""}${group}`),
    extra: claims.jti === undefined ? {} : { "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`] },
  }
}

/** A single string or a list of strings. */
function groupsOf(value: unknown): string[] {
  if (value === undefined) return []
  const list = Array.isArray(value) ? value : [value]
  if (!list.every((item): item is string => typeof item === "string"))
    throw new Error("the claim of groups is no list of texts")
  return list
}
