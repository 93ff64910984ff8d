// The keys of an issuer, from OpenID Connect discovery. They are fetched when a token first names the issuer, after they expire,
// and when a token names an unknown key; with a minimum interval between fetches.

import type { Json } from "../../../apimachinery/object.ts"
import { isObject, type JsonObject } from "../../../apimachinery/schema/json-object.ts"
import type { Backends } from "../../backends/backends.ts"
import { fetchDocument } from "./documents.ts"
import type { Pause } from "./expressions.ts"
import { type IssuerKey, readKey } from "./issuer-key.ts"

const issuerLimits = {
  /** Keys are considered current for this long. */
  freshMs: 10 * 60_000,
  /** Minimum interval between two fetches, even after a failure. */
  cooldownMs: 10_000,
  /** Of one issuer. Real ones have fewer than twenty. Beyond: none are read. */
  maxKeys: 256,
} as const

interface KnownIssuer {
  url: string
  discoveryURL?: string
  /** PEM. */
  certificateAuthority?: string
}

interface IssuerKeysParts {
  backends: Backends
  /** Called before each piece of work of reading them. */
  pause: Pause
}

export class IssuerKeys {
  readonly #issuer: KnownIssuer
  readonly #parts: IssuerKeysParts
  #keys: readonly IssuerKey[] | undefined
  #fetchedAt = -Infinity
  #fetching: Promise<void> | undefined

  constructor(issuer: KnownIssuer, parts: IssuerKeysParts) {
    this.#issuer = issuer
    this.#parts = parts
  }

  /** Rejects if they are not known. */
  async current(): Promise<readonly IssuerKey[]> {
    if (this.#keys === undefined) await this.#fetchSoon()
    // As in kube-apiserver, the keys remain valid while the issuer is unreachable.
    else if (this.#age > issuerLimits.freshMs) await this.#fetchSoon().catch(() => undefined)
    if (this.#keys === undefined) throw new Error(`no keys of ${this.#issuer.url}`)
    return this.#keys
  }

  /** Fetches keys that are newer than these, unless they are known or that was just done. Returns false if there are none. */
  async refresh(tried: readonly IssuerKey[]): Promise<boolean> {
    if (this.#keys === tried) await this.#fetchSoon()
    return this.#keys !== tried
  }

  /** Estimated memory of the keys. */
  get bytes(): number {
    return this.#keys?.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0
  }

  get #age(): number {
    return performance.now() - this.#fetchedAt
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
    const discovery = discoveryURL || `${url.replace(/\/$/, "")}/.well-known/openid-configuration`
    const { issuer, jwks_uri: keysURL } = await this.#get(discovery)
    if (issuer !== url) throw new Error(`the issuer calls itself ${JSON.stringify(issuer)}, not ${url}`)
    if (typeof keysURL !== "string" || !URL.canParse(keysURL)) throw new Error("no jwks_uri")
    const { keys } = await this.#get(keysURL)
    if (!Array.isArray(keys)) throw new Error(`${keysURL} has no keys`)
    if (keys.length > issuerLimits.maxKeys) throw new Error(`${keysURL} has more than ${issuerLimits.maxKeys} keys`)
    this.#keys = await this.#read(keys)
  }

  async #read(keys: readonly Json[]): Promise<IssuerKey[]> {
    const read: IssuerKey[] = []
    for (const one of keys) {
      await this.#parts.pause()
      const key = readKey(one)
      if (key !== undefined) read.push(key)
    }
    return read
  }

  async #get(text: string): Promise<JsonObject> {
    const { certificateAuthority } = this.#issuer
    const { code, body } = await fetchDocument(this.#parts.backends, text, { certificateAuthority })
    if (code !== 200) throw new Error(`${text} answered ${code}`)
    await this.#parts.pause()
    const document = JSON.parse(body.toString()) as Json
    if (!isObject(document)) throw new Error(`${text} is no JSON object`)
    return document
  }
}
