// Requests whose answers' headers are compared, all of them but for those that differ by what a server is.

import type { IncomingHttpHeaders } from "node:http"
import type { Answer, Connection } from "../connection.ts"

export interface Case {
  method: string
  path: string
  code: number
  headers?: Record<string, string>
  body?: string
  /** Without credentials. */
  isAnonymous?: true
  /** Once more, with the first answer's ETag. */
  isAgain?: true
}

const json = { "content-type": "application/json" }

export const ask = (code: number, path: string, headers: Record<string, string> = {}): Case => ({
  method: "GET",
  path,
  code,
  headers,
})
export const send = (
  code: number,
  method: string,
  path: string,
  body: string,
  headers: Record<string, string> = json,
): Case => ({
  method,
  path,
  code,
  body,
  headers,
})
export const anonymous = (code: number, path: string, headers: Record<string, string> = {}): Case => ({
  ...ask(code, path, headers),
  isAnonymous: true,
})
export const again = (path: string, headers: Record<string, string> = {}): Case => ({
  ...ask(304, path, headers),
  isAgain: true,
})
export const accept = (type: string): Record<string, string> => ({ accept: type })

/** What a server is, not what it says; nothing of it is read by who asks. */
const own: ReadonlySet<string> = new Set([
  "connection", // Node says how long it keeps an idle connection, so that nobody sends on one that is about to close
  "keep-alive",
  "content-length", // and whether it knew the length beforehand
  "transfer-encoding",
])
/** Of these, that they are there. */
const changing: ReadonlySet<string> = new Set([
  "audit-id",
  "content-range", // a document's size is its own
  "date",
  "etag",
  "last-modified",
  "process-start-time-unix",
  "x-kubernetes-pf-flowschema-uid",
  "x-kubernetes-pf-prioritylevel-uid",
])
/** Whoever has no credentials is told nothing that would tell which tenants there are (filters/classification.ts). */
const untoldToStrangers: ReadonlySet<string> = new Set([
  "x-kubernetes-pf-flowschema-uid",
  "x-kubernetes-pf-prioritylevel-uid",
])

export async function answer(
  server: Connection,
  { method, path, headers = {}, body, isAnonymous, isAgain }: Case,
): Promise<Answer> {
  using stranger = server.withoutCredentials()
  const connection = isAnonymous === true ? stranger : server
  const first = isAgain === true ? await connection.call(method, path, { headers }) : undefined
  const etag = first?.headers.etag
  const condition = etag === undefined ? {} : { "if-none-match": etag }
  return await connection.call(method, path, { headers: { ...headers, ...condition }, body }) // before the stranger is gone
}

export function normal(headers: IncomingHttpHeaders, isStranger: boolean): Record<string, unknown> {
  const compared = Object.entries(headers).filter(
    ([name]) => !own.has(name) && !(isStranger && untoldToStrangers.has(name)),
  )
  return Object.fromEntries(compared.map(([name, value]) => [name, changing.has(name) ? "(present)" : value]))
}
