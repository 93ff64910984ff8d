// Sends the requests of a client in process to the servers of a control plane's aggregated APIs, as one user. Errors are those of
// client-go (NewGenericServerResponse in k8s.io/apimachinery/pkg/api/errors).

import type { IncomingMessage } from "node:http"
import { goQuote } from "../../apimachinery/go/quote.ts"
import { noSuchPath, restated, serviceUnavailable, StatusError } from "../../apimachinery/status.ts"
import type { Transport } from "../../client/http/client.ts"
import { parseStatus, readError } from "../../client/http/errors.ts"
import type { TransportRequest } from "../../client/http/transport.ts"
import { readBody } from "../backends/read-body.ts"
import type { User } from "../request/user.ts"
import { maxAnswerBytes, openRemote, type RemoteTarget } from "./remote.ts"
import { type APIService, isAvailable } from "../../client/api-services.ts"

/** Until a server has responded completely, or to a watch at all. */
const answerTimeoutMs = 5_000
/** Maximum size of a watch event: what an etcd stores of an object, and room for how it is written. */
const watchLineBytes = 2 * 1024 * 1024

/** The part of an aggregator that is needed here. */
interface Servers {
  find(group: string, version: string): Promise<APIService | undefined>
  target(service: APIService): Promise<RemoteTarget>
  /** Ends all requests. */
  readonly signal: AbortSignal
}

export class AggregatedTransport implements Transport {
  readonly limits = { watchLineBytes }
  readonly #servers: Servers
  readonly #user: User

  constructor(servers: Servers, user: User) {
    this.#servers = servers
    this.#user = user
  }

  async open(wanted: TransportRequest): Promise<IncomingMessage> {
    const [, group = "", version = ""] = /^\/apis\/([^/?]+)\/([^/?]+)/.exec(wanted.path) ?? []
    const service = await this.#servers.find(group, version)
    if (service === undefined) throw noSuchPath()
    if (!isAvailable(service)) throw unableToHandle()
    try {
      const response = await this.#send(service, wanted)
      const { statusCode: code = 0 } = response
      if (code >= 200 && code <= 299) return response
      throw errorOf(wanted, code, await readBody(response, maxAnswerBytes))
    } catch (error) {
      throw this.asStatusError(wanted, error)
    }
  }

  async #send(service: APIService, wanted: TransportRequest): Promise<IncomingMessage> {
    const { signal, stream, ...request } = wanted
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error("no answer in time")), answerTimeoutMs)
    const until = [this.#servers.signal, late.signal, ...(signal === undefined ? [] : [signal])]
    try {
      const target = await this.#servers.target(service)
      const options = { ...request, idleMs: stream?.idleMs }
      const response = await openRemote(target, options, this.#user, AbortSignal.any(until))
      if (stream === undefined) response.once("close", () => clearTimeout(timer))
      else clearTimeout(timer)
      return response
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }

  async readBody(wanted: TransportRequest, response: IncomingMessage): Promise<Buffer> {
    try {
      return await readBody(response, maxAnswerBytes)
    } catch (error) {
      throw this.asStatusError(wanted, error)
    }
  }

  asStatusError(_: TransportRequest, error: unknown): StatusError {
    return error instanceof StatusError ? error : unableToHandle(error)
  }
}

/** Of what a server says in its own words, client-go keeps the code, and says it in its words. Source: NewGenericServerResponse. */
function errorOf(wanted: TransportRequest, code: number, body: Buffer): StatusError {
  const error = readError(wanted, code, body)
  if (parseStatus(body) !== undefined) return error
  const message = messages[code] ?? (code < 500 ? undefined : unexpected(body))
  if (message === undefined) return error
  const isThere = code === 409 && wanted.method === "POST"
  const reason = isThere ? "AlreadyExists" : messages[code] === undefined ? "InternalError" : error.status.reason
  return restated(error, { message, ...(reason === undefined ? {} : { reason }) })
}

function unexpected(body: Buffer): string {
  const text = body.subarray(0, maxToldBytes).toString().trim()
  return `an error on the server (${goQuote(text)}) has prevented the request from succeeding`
}

/** As in client-go. */
const maxToldBytes = 2048

const messages: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}

function unableToHandle(cause?: unknown): StatusError {
  return serviceUnavailable("the server is currently unable to handle the request", { cause })
}
