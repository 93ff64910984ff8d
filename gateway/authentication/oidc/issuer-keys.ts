// The keys of an issuer, from OpenID Connect discovery. They are fetched when a token first names the issuer, after they expire,
// and when a token names an unknown key; with a minimum interval between fetches.

import { request as httpsRequest } from "node:https"
import { createLocalJWKSet, type JSONWebKeySet, type CompactVerifyGetKey } from "jose"
import type { Backends } from "../../backends/backends.ts"
import { readBody } from "../../backends/read-body.ts"
import type { JWTAuthenticator } from "./configuration.ts"

const issuerLimits = {
  /** Keys are considered current for this long. */
  freshMs: 10 * 60_000,
  /** Minimum interval between two fetches, even after a failure. */
  cooldownMs: 10_000,
  /** Timeout for each of the two documents. */
  timeoutMs: 5_000,
  maxDocumentBytes: 512 * 1024,
} as const

export class IssuerKeys {
  readonly #issuer: JWTAuthenticator["issuer"]
  readonly #backends: Backends
  #keys: CompactVerifyGetKey | undefined
  #fetchedAt = -Infinity
  #fetching: Promise<void> | undefined

  constructor(issuer: JWTAuthenticator["issuer"], backends: Backends) {
    this.#issuer = issuer
    this.#backends = backends
  }

  /** For jose's compactVerify. Rejects if there is no such key. */
  readonly keyOf: CompactVerifyGetKey = async (header, token) => {
    if (this.#keys === undefined) await this.#fetchSoon()
    // As in kube-apiserver, the keys remain valid while the issuer is unreachable.
    else if (this.#age > issuerLimits.freshMs) await this.#fetchSoon().catch(() => undefined)
    try {
      return await this.#known(header, token)
    } catch (error) {
      if (this.#age < issuerLimits.cooldownMs) throw error
      await this.#fetchSoon()
      return this.#known(header, token)
    }
  }

  /**
   * Fetches the keys again, unless that was just done. Returns false if there are no newer ones. A key may have been replaced under
   * its name.
   */
  async refresh(): Promise<boolean> {
    if (this.#age < issuerLimits.cooldownMs) return false
    await this.#fetchSoon()
    return true
  }

  get #age(): number {
    return performance.now() - this.#fetchedAt
  }

  #known: CompactVerifyGetKey = (header, token) => {
    if (this.#keys === undefined) throw new Error(`no keys of ${this.#issuer.url}`)
    return this.#keys(header, token)
  }

  /** Concurrent callers share one fetch. */
  #fetchSoon(): Promise<void> {
    if (this.#fetching === undefined && this.#age < issuerLimits.cooldownMs) return Promise.resolve()
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetchedAt = performance.now()
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetch(): Promise<void> {
    const { url, discoveryURL } = this.#issuer
    const document = (await this.#get(
      discoveryURL ?? `${url.replace(/\/$/, "")}/.well-known/openid-configuration`,
    )) as {
      issuer?: unknown
      jwks_uri?: unknown
    }
    if (document.issuer !== url)
      throw new Error(`the issuer calls itself ${JSON.stringify(document.issuer)}, not ${url}`)
    if (typeof document.jwks_uri !== "string" || !URL.canParse(document.jwks_uri)) throw new Error("no jwks_uri")
    this.#keys = createLocalJWKSet((await this.#get(document.jwks_uri)) as JSONWebKeySet)
  }

  #get(text: string): Promise<unknown> {
    const url = new URL(text)
    if (url.protocol !== "https:") return Promise.reject(new Error(`${text} is not https`))
    const { certificateAuthority } = this.#issuer
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const request = httpsRequest({
      agent: this.#backends.urls,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port || 443,
      path: `${url.pathname}${url.search}`,
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(issuerLimits.timeoutMs),
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority, allowPartialTrustChain: true }),
    })
    request.on("error", reject)
    request.on("response", (response) => {
      const tooLong = (): Error => new Error(`${text} is too long`)
      readBody(response, issuerLimits.maxDocumentBytes, tooLong)
        .then((bytes): unknown => {
          if (response.statusCode !== 200) throw new Error(`${text} answered ${response.statusCode}`)
          return JSON.parse(bytes.toString())
        })
        .then(resolve, reject)
    })
    request.end()
    return promise
  }
}
