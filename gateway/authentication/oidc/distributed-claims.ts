// Groups that a token does not contain, but says where they are: another JWT contains them, maybe of another issuer. Source:
// k8s.io/apiserver/plugin/pkg/authenticator/token/oidc (claimResolver); OpenID Connect Core 1.0, 5.6.2.

import { STATUS_CODES } from "node:http"
import { errorMessage } from "../../../apimachinery/error-message.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { remember } from "../../../apimachinery/remember.ts"
import { isObject, type JsonObject, ownValue } from "../../../apimachinery/schema/json-object.ts"
import type { Backends } from "../../backends/backends.ts"
import type { CompiledAuthenticator, Pause } from "./expressions.ts"
import { fetchDocument } from "./documents.ts"
import { type Aside, verifiedClaims } from "./id-token.ts"
import { type ClaimSource, sourceOf } from "./id-token-claims.ts"
import { InvalidToken } from "./invalid-token.ts"
import { IssuerKeys } from "./issuer-keys.ts"
import { untrustedIssuer } from "./untrusted-issuer.ts"

/** Number of issuers of such tokens whose keys are kept; the oldest are dropped. */
const maxIssuers = 16
const lastSuccess = 226

interface DistributedClaimsParts {
  backends: Backends
  pause: Pause
  aside: Aside
}

export class DistributedClaims {
  readonly #issuer: CompiledAuthenticator["given"]["issuer"]
  readonly #parts: DistributedClaimsParts
  /** The issuer's own. */
  readonly #own: IssuerKeys
  /** Of others, by their URLs. */
  readonly #others = new Map<string, IssuerKeys>()

  constructor(issuer: CompiledAuthenticator["given"]["issuer"], own: IssuerKeys, parts: DistributedClaimsParts) {
    this.#issuer = issuer
    this.#parts = parts
    this.#own = own
  }

  /** Of all issuers. */
  get keyBytes(): number {
    return this.#others.values().reduce((sum, { bytes }) => sum + bytes, this.#own.bytes)
  }

  /** The claims with this one, if they say where it is. */
  async expand(claims: JsonObject, claim: string): Promise<JsonObject> {
    const names = ownValue(claims, "_claim_names")
    if (ownValue(claims, claim) !== undefined || names === undefined) return claims
    if (ownValue(claims, "_claim_sources") === undefined) throw failed("oidc: no claim sources")
    const name = isObject(names) ? ownValue(names, claim) : undefined
    const source = typeof name === "string" ? sourceOf(claims, name) : undefined
    // Without an endpoint its JWT is in the token, which upstream does not support.
    if (source === undefined || source.endpoint === "") return claims
    const other = await this.#resolve(source, claim)
    const value = ownValue(other, claim)
    if (value !== undefined) return { ...claims, [claim]: value }
    const endpoint = goQuote(source.endpoint)
    throw failed(`jwt returned by distributed claim endpoint ${endpoint} did not contain claim: ${claim}`)
  }

  async #resolve(source: ClaimSource, claim: string): Promise<JsonObject> {
    const jwt = await this.#fetch(source, claim)
    const url = untrustedIssuer(jwt)
    if (url === undefined) {
      const at = `from endpoint ${source.endpoint} failed for claim ${goQuote(claim)}`
      throw failed(`getting untrusted issuer ${at}: malformed token`)
    }
    const action = "oidc: could not expand distributed claims: verify distributed claim token"
    try {
      const { audiences } = this.#issuer
      return await verifiedClaims(jwt, { audiences, keys: this.#keysOf(url), aside: this.#parts.aside, action })
    } catch (error) {
      if (error instanceof InvalidToken) throw error
      const reason = `verifying untrusted issuer ${url} failed: verifier not initialized for issuer: ${goQuote(url)}`
      throw failed(reason, error)
    }
  }

  async #fetch({ endpoint, accessToken }: ClaimSource, claim: string): Promise<string> {
    const { certificateAuthority } = this.#issuer
    const options = { certificateAuthority, ...(accessToken === "" ? {} : { bearerToken: accessToken }) }
    const what = `while getting distributed claim ${goQuote(claim)}`
    const { code, body } = await fetchDocument(this.#parts.backends, endpoint, options).catch((error: unknown) => {
      throw failed(`${what}: Get ${goQuote(endpoint)}: ${errorMessage(error)}`, error)
    })
    if (code >= 200 && code <= lastSuccess) return body.toString()
    throw failed(`${what}: error while getting distributed claim JWT: ${code} ${STATUS_CODES[code] ?? ""}`)
  }

  #keysOf(url: string): IssuerKeys {
    const { certificateAuthority } = this.#issuer
    if (url === this.#issuer.url) return this.#own
    const known =
      this.#others.get(url) ??
      new IssuerKeys({ url, ...(certificateAuthority === undefined ? {} : { certificateAuthority }) }, this.#parts)
    return remember(this.#others, url, known, maxIssuers)
  }
}

function failed(reason: string, cause?: unknown): InvalidToken {
  return new InvalidToken(`oidc: could not expand distributed claims: ${reason}`, { cause })
}
