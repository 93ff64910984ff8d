// The keys of an issuer, from OpenID Connect discovery. They are fetched when a token first names the issuer, after they expire,
// and when a token names an unknown key; with a minimum interval between fetches.

import type { CompactVerifyGetKey, JSONWebKeySet } from "jose"
import { JWKSMultipleMatchingKeys } from "jose/errors"
import { createLocalJWKSet } from "jose/jwks/local"
import type { Backends } from "../../backends/backends.ts"
import { fetchDocument } from "./documents.ts"

const issuerLimits = {
  /** Keys are considered current for this long. */
  freshMs: 10 * 60_000,
  /** Minimum interval between two fetches, even after a failure. */
  cooldownMs: 10_000,
} as const

interface KnownIssuer {
  url: string
  discoveryURL?: string
  /** PEM. */
  certificateAuthority?: string
}

export class IssuerKeys {
  readonly #issuer: KnownIssuer
  readonly #backends: Backends
  #keys: CompactVerifyGetKey | undefined
  #fetchedAt = -Infinity
  #fetching: Promise<void> | undefined

  constructor(issuer: KnownIssuer, backends: Backends) {
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
      // A token that names no key may be of any of those known; if it is of none, its signature says so.
      if (error instanceof JWKSMultipleMatchingKeys || this.#age < issuerLimits.cooldownMs) throw error
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
      discoveryURL || `${url.replace(/\/$/, "")}/.well-known/openid-configuration`,
    )) as {
      issuer?: unknown
      jwks_uri?: unknown
    }
    if (document.issuer !== url)
      throw new Error(`the issuer calls itself ${JSON.stringify(document.issuer)}, not ${url}`)
    if (typeof document.jwks_uri !== "string" || !URL.canParse(document.jwks_uri)) throw new Error("no jwks_uri")
    this.#keys = createLocalJWKSet((await this.#get(document.jwks_uri)) as JSONWebKeySet)
  }

  async #get(text: string): Promise<unknown> {
    const { certificateAuthority } = this.#issuer
    const { code, body } = await fetchDocument(this.#backends, text, { certificateAuthority })
    if (code !== 200) throw new Error(`${text} answered ${code}`)
    return JSON.parse(body.toString())
  }
}
