// Authenticates JWTs of the issuers that a tenant has configured. Without configuration it costs nothing: the configuration is read
// when a token arrives that is not the tenant's own. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { unauthorized } from "../../../apimachinery/status.ts"
import { tooManyAtOnce } from "../../../apimachinery/text-errors.ts"
import type { Log } from "../../../client/log.ts"
import type { Backends } from "../../backends/backends.ts"
import { storageKey, storagePrefixOf } from "../../registry/generic/storage/keys.ts"
import type { ObjectView } from "../../registry/generic/storage/object-view.ts"
import type { Authenticator } from "../types.ts"
import type { User } from "../../request/user.ts"
import { userOf } from "./claims.ts"
import { configurationField, configurationName, issuerURLsIn, parseConfiguration } from "./configuration.ts"
import { DistributedClaims } from "./distributed-claims.ts"
import type { CompiledAuthenticator, Pause } from "./expressions.ts"
import { type Aside, verifiedClaims } from "./id-token.ts"
import { InvalidToken } from "./invalid-token.ts"
import { IssuerKeys } from "./issuer-keys.ts"
import { google, untrustedIssuer } from "./untrusted-issuer.ts"

/** The key of the ConfigMap, for the view. */
export const configurationPrefix = storageKey(storagePrefixOf("", "configmaps"), "kube-system", configurationName)

type ConfigMap = KubeObject & { data?: Record<string, string> }

interface OIDCParts {
  view: ObjectView<ConfigMap>
  backends: Backends
  /** The audiences of requests that specify none. */
  apiAudiences: readonly string[]
  /** Of the control plane's own tokens. */
  ownIssuer: string
  /** The turns of the control plane's clients, which requests have only when their user is known. */
  pause: Pause
  /** The control plane's places for work in other threads. */
  aside: Aside
  log: Log
}

/** What tokens of the configured issuers may claim as their issuer. */
export async function configuredIssuers(view: ObjectView<ConfigMap>): Promise<string[]> {
  const text = configurationIn(await view.current())
  const urls = text === undefined ? [] : issuerURLsIn(text)
  return urls.includes(google.url) ? [...urls, google.claimed] : urls
}

const urlOf = ({ given }: CompiledAuthenticator): string => given.issuer.url

function configurationIn(objects: readonly ConfigMap[]): string | undefined {
  return objects.find(({ metadata }) => metadata.name === configurationName)?.data?.[configurationField]
}

/** Tokens of a control plane that are examined at once: issuers may be slow. Beyond: 429. */
const maxUnderWay = 200
const retryAfterSeconds = 1

interface Issuer {
  authenticator: CompiledAuthenticator
  keys: IssuerKeys
  distributed: DistributedClaims
}

export interface OIDCAuthenticator extends Authenticator {
  /** Estimated memory of the issuers' keys. */
  readonly keyBytes: number
}

export function createOIDCAuthenticator(parts: OIDCParts): OIDCAuthenticator {
  const { view, apiAudiences, ownIssuer, log } = parts
  let seen: readonly ConfigMap[] | undefined
  let issuers = new Map<string, Issuer>()
  let underWay = 0

  /** An issuer keeps its keys as long as its part of the configuration is unchanged. */
  async function issuerOf(url: string): Promise<Issuer | undefined> {
    if ((await view.current()) !== seen) await parts.pause()
    const objects = await view.current() // another may have compiled it meanwhile, or it has changed again
    if (objects !== seen) {
      const before = issuers
      issuers = new Map() // if it cannot be read, nobody's tokens are valid
      seen = objects
      const text = configurationIn(objects)
      const { authenticators, errors: faults } =
        text === undefined ? { authenticators: [], errors: [] } : parseConfiguration(text, ownIssuer)
      if (faults.length > 0)
        log.warn({ error: faults[0]?.message() }, "a tenant's authentication configuration is wrong")
      issuers = new Map(authenticators.map((one) => [urlOf(one), keep(before.get(urlOf(one)), one)]))
    }
    return issuers.get(url)
  }

  function keep(before: Issuer | undefined, authenticator: CompiledAuthenticator): Issuer {
    const { issuer } = authenticator.given
    const isSame = JSON.stringify(before?.authenticator.given.issuer) === JSON.stringify(issuer)
    if (isSame && before !== undefined) return { ...before, authenticator }
    const keys = new IssuerKeys(issuer, parts)
    return { authenticator, keys, distributed: new DistributedClaims(issuer, keys, parts) }
  }

  return {
    get keyBytes() {
      return [...issuers.values()].reduce((sum, { distributed }) => sum + distributed.keyBytes, 0)
    },
    async authenticate({ bearerToken }, audiences = apiAudiences) {
      const url = bearerToken === undefined ? undefined : untrustedIssuer(bearerToken)
      if (bearerToken === undefined || url === undefined) return undefined
      // The limit of requests in flight is for callers that are known.
      if (underWay >= maxUnderWay) throw tooManyAtOnce(retryAfterSeconds)
      underWay++
      try {
        const issuer = await issuerOf(url)
        if (issuer === undefined) return undefined
        const accepted = audiences.filter((audience) => apiAudiences.includes(audience))
        if (accepted.length === 0) return undefined
        return { user: await identify(bearerToken, issuer, parts), audiences: accepted }
      } catch (error) {
        if (!(error instanceof InvalidToken)) throw error
        log.debug(
          { error: error.message, cause: error.cause, issuer: url },
          "a token of a configured issuer was refused",
        )
        throw unauthorized(error.message)
      } finally {
        underWay--
      }
    },
  }
}

async function identify(
  token: string,
  { authenticator, keys, distributed }: Issuer,
  { pause, aside }: Pick<OIDCParts, "pause" | "aside">,
): Promise<User> {
  const { issuer, claimMappings } = authenticator.given
  const claims = await verifiedClaims(token, {
    audiences: issuer.audiences,
    keys,
    aside,
    action: "oidc: verify token",
  }).catch((error: unknown) => {
    if (error instanceof InvalidToken) throw error
    throw new InvalidToken("oidc: authenticator not initialized", { cause: error })
  })
  const groups = claimMappings?.groups?.claim ?? ""
  return userOf(authenticator, groups === "" ? claims : await distributed.expand(claims, groups), pause)
}
