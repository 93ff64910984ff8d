// Fetches the documents of issuers. Their addresses are restricted like those of webhooks.

import { request as httpsRequest } from "node:https"
import type { IncomingMessage } from "node:http"
import { answerTo } from "../../backends/answer-to.ts"
import type { Backends } from "../../backends/backends.ts"
import { readBody } from "../../backends/read-body.ts"

const documentLimits = {
  /** Timeout for each document. */
  timeoutMs: 5_000,
  maxBytes: 512 * 1024,
  /** As Go's client. */
  maxRedirections: 10,
} as const

const redirections: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

interface FetchOptions {
  /** PEM; instead of the authorities that the system trusts. */
  certificateAuthority: string | undefined
  bearerToken?: string | undefined
}

interface Fetched {
  code: number
  body: Buffer
}

/** Follows redirections; the token is not sent to another host. */
export async function fetchDocument(backends: Backends, text: string, options: FetchOptions): Promise<Fetched> {
  const signal = AbortSignal.timeout(documentLimits.timeoutMs)
  let url = new URL(text)
  const { certificateAuthority } = options
  let { bearerToken } = options
  for (let count = 0; count <= documentLimits.maxRedirections; count++) {
    const response = await respond(backends, url, { certificateAuthority, bearerToken }, signal)
    const { statusCode: code = 0, headers } = response
    if (!redirections.has(code) || headers.location === undefined) {
      const tooLong = (): Error => new Error(`${text} is too long`)
      return { code, body: await readBody(response, documentLimits.maxBytes, tooLong) }
    }
    response.destroy()
    const next = new URL(headers.location, url)
    if (next.host !== url.host) bearerToken = undefined
    url = next
  }
  throw new Error(`stopped after ${documentLimits.maxRedirections} redirects`)
}

async function respond(
  backends: Backends,
  url: URL,
  { certificateAuthority, bearerToken }: FetchOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  if (url.protocol !== "https:") throw new Error(`${url.href} is not https`)
  const request = httpsRequest({
    agent: backends.urls,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port || 443,
    path: `${url.pathname}${url.search}`,
    headers: {
      accept: "application/json",
      ...(bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` }),
    },
    signal,
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority, allowPartialTrustChain: true }),
  })
  request.end()
  return answerTo(request)
}
