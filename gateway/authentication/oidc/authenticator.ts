// Authenticates JWTs of the issuers that a tenant has configured. Without configuration it costs nothing: the configuration is read
// when a token arrives that is not the tenant's own. Source: k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { unauthorized } from "../../../apimachinery/status.ts"
import type { Log } from "../../../client/log.ts"
import type { Backends } from "../../backends/backends.ts"
import { storageKey, storagePrefixOf } from "../../registry/generic/storage/keys.ts"
import type { ObjectView } from "../../registry/generic/storage/object-view.ts"
import { tokenIssuer } from "../service-account-token.ts"
import type { Authenticator } from "../types.ts"
import { configurationField, configurationName, type JWTAuthenticator, parseConfiguration } from "./configuration.ts"
import { userOf } from "./claims.ts"
import { InvalidToken, verifiedClaims } from "./id-token.ts"
import { IssuerKeys } from "./issuer-keys.ts"

/** The key of the ConfigMap, for the view. */
export const configurationPrefix = storageKey(storagePrefixOf("", "configmaps"), "kube-system", configurationName)

/** As upstream: Google omits the scheme. */
const schemelessGoogle = "accounts.google.com"

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
    return issuers.get(url === schemelessGoogle ? `https://${schemelessGoogle}` : url)
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
        const claims = await verifiedClaims(bearerToken, issuer)
        return { user: userOf(issuer.authenticator, claims), audiences: accepted }
      } catch (error) {
        if (!(error instanceof InvalidToken)) throw error
        log.debug(
          { error: error.message, cause: error.cause, issuer: url },
          "a token of a configured issuer was refused",
        )
        throw unauthorized(`oidc: ${error.message}`)
      }
    },
  }
}
