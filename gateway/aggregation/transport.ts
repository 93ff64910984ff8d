// Sends the requests of a client in process to the servers of a control plane's aggregated APIs, as one user. Errors are those of
// client-go (NewGenericServerResponse in k8s.io/apimachinery/pkg/api/errors).

import type { IncomingMessage } from "node:http"
import { noSuchPath, serviceUnavailable, StatusError } from "../../apimachinery/status.ts"
import type { Transport } from "../../client/http/client.ts"
import { parseStatus } from "../../client/http/errors.ts"
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
export interface Servers {
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

function errorOf({ path }: TransportRequest, code: number, body: Buffer): StatusError {
  const status = parseStatus(body)
  if (status !== undefined) return new StatusError(status)
  return code === 503 ? unableToHandle() : serviceUnavailable(`the server answered ${code} for ${path}`)
}

function unableToHandle(cause?: unknown): StatusError {
  return serviceUnavailable("the server is currently unable to handle the request", { cause })
}
