// Requests from the gateway to a server of an aggregated API: its address, TLS, and the user headers.

import type { IncomingMessage } from "node:http"
import { request as httpsRequest, type RequestOptions } from "node:https"
import type { Json } from "../../apimachinery/object.ts"
import { maxDepth, survey } from "../../apimachinery/schema/json/survey.ts"
import { answerTo } from "../backends/answer-to.ts"
import type { Backends, ServiceTarget } from "../backends/backends.ts"
import { readBody } from "../backends/read-body.ts"
import { addressOf, findService, type Reader } from "../backends/service-endpoint.ts"
import { authoritiesOf } from "../pki/authorities.ts"
import type { User } from "../request/user.ts"
import type { FrontProxy } from "./front-proxy.ts"
import { type APIService, defaultPort } from "../../client/api-services.ts"

/** Default maximum size of a response. Beyond: the server counts as unavailable. */
export const maxAnswerBytes = 8 * 1024 * 1024

export type RemoteTarget = RequestOptions &
  ServiceTarget & {
    protocol: "https:"
    host: string
    port: number
    /** What the server is told as its host. */
    address: string
  }

/** The server of an APIService cannot be called: with upstream's words for clients. */
export class UncallableServer extends Error {}

/** Throws a StatusError if the Service leads nowhere, and UncallableServer. */
export async function remoteTarget(
  reader: Reader,
  backends: Backends,
  frontProxy: FrontProxy,
  { spec }: APIService,
): Promise<RemoteTarget> {
  const { name = "", namespace = "", port = defaultPort } = spec?.service ?? {}
  const host = `${name}.${namespace}.svc`
  const { certificates, fault } = authoritiesOf(spec ?? {})
  const isTrusting = spec?.insecureSkipTLSVerify !== true
  if (isTrusting && fault !== undefined) throw new UncallableServer(fault)
  const service = await findService(reader, { namespace, name }, port)
  const { certificate, key } = await frontProxy.certificate()
  const trust = spec?.caBundle ? { ca: [certificates], allowPartialTrustChain: true } : {}
  return {
    protocol: "https:",
    agent: backends.services,
    service: { namespace, name, port },
    host,
    port,
    address: addressOf(service, port),
    servername: host,
    cert: certificate,
    key,
    ...(isTrusting ? trust : { rejectUnauthorized: false }),
  }
}

/** Source: SetAuthProxyHeaders in k8s.io/client-go/transport/round_trippers.go. */
export function userHeaders({ name, uid, groups, extra }: User): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "x-remote-user": latin(name) }
  if (uid !== undefined && uid !== "") headers["x-remote-uid"] = latin(uid)
  if (groups.length > 0) headers["x-remote-group"] = groups.map(latin)
  for (const [key, values] of Object.entries(extra)) {
    headers[`x-remote-extra-${escapeKey(key)}`.toLowerCase()] = values.map(latin)
  }
  return headers
}

/** Go's encoding of header values: the bytes of UTF-8. */
const latin = (text: string): string => Buffer.from(text).toString("latin1")

function escapeKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => String.fromCharCode(byte))
    .map((char) =>
      /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(char)
        ? char
        : `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("")
}

/** For checks of availability. */
export const aggregatorUser: User = { name: "system:kube-aggregator", groups: ["system:masters"], extra: {} }
/** For OpenAPI documents. */
export const openAPIUser: User = { name: "system:aggregator", groups: [], extra: {} }

interface RemoteRequest {
  method: string
  path: string
  headers?: Readonly<Record<string, string>>
  body?: string | undefined
  /** For a stream: it ends with an error if nothing has been received for so long. */
  idleMs?: number | undefined
}

/** Resolves with the head of the response. The signal also ends the response. */
export function openRemote(
  target: RemoteTarget,
  { method, path, headers: more, body, idleMs }: RemoteRequest,
  user: User,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // Without an explicit length, Node does not announce the body of some methods, and it would be parsed as another request.
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }
  const headers = { accept: "application/json", ...more, ...length, ...userHeaders(user), host: target.address }
  const timeout = idleMs === undefined ? {} : { timeout: idleMs }
  const request = httpsRequest({ ...target, path, method, headers, signal, ...timeout })
  if (idleMs !== undefined) {
    request.on("timeout", () => request.destroy(new Error(`nothing received for ${idleMs} ms`)))
  }
  request.end(body)
  return answerTo(request)
}

export interface RemoteAnswer {
  code: number
  type: string
  /** Undefined if it is not JSON. */
  document: Json | undefined
  /** Its length. */
  bytes: number
  etag: string | undefined
}

/** A GET. */
export interface RemoteGet extends Pick<RemoteRequest, "path" | "headers"> {
  /** Of the response. */
  maxBytes: number
}

export async function getRemote(
  target: RemoteTarget,
  { maxBytes, ...request }: RemoteGet,
  user: User,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  const response = await openRemote(target, { method: "GET", ...request }, user, signal)
  const { statusCode: code = 0, headers } = response
  const answer = await readBody(response, maxBytes)
  const { "content-type": type = "", etag } = headers
  return { code, type, document: parsed(answer), bytes: answer.length, etag }
}

function parsed(bytes: Buffer): Json | undefined {
  if (survey(bytes).depth > maxDepth) return undefined
  try {
    return JSON.parse(bytes.toString()) as Json
  } catch {
    return undefined // some servers respond in another format; only the code counts then
  }
}
