// Calls to an etcd cluster with one or more members: one connection per member, one member in use at a time. If it does not
// respond, the next member is tried: always for reads; for writes only if it is certain that nothing was written, or if the caller
// declares the write idempotent.

import { setTimeout as delay } from "node:timers/promises"
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from "@grpc/grpc-js"
import { StorageError } from "../types.ts"
import { type EtcdLimits, retryDelay } from "./limits.ts"
import { EtcdCertificates, type EtcdTls } from "./certificates.ts"
import { type Calls, loadCalls } from "./wire.ts"

interface EtcdClientOptions {
  /** "http://host:port" or "https://host:port", all with the same scheme. */
  servers: readonly string[]
  tls?: EtcdTls
  limits: EtcdLimits
}

/** again: the call is idempotent. once: it is retried only if it certainly had no effect. */
type Repeat = "again" | "once"

interface Outcome<Response> {
  response: Response
  /** An earlier attempt may have taken effect too. */
  isRepeated: boolean
}

/** The request has taken effect, will, or never does: it was sent, and not repeated. */
export class LostResponseError extends StorageError {}

const noMember = /^No connection established|^Name resolution failed|no leader|too many requests/

export class EtcdClient {
  readonly calls: Calls
  readonly #limits: EtcdLimits
  readonly #servers: readonly string[]
  readonly #members: Client[]
  readonly #certificates: EtcdCertificates
  readonly #metadata = new Metadata()
  readonly #closing = new AbortController()
  #current = 0

  constructor({ servers, tls, limits }: EtcdClientOptions) {
    this.#limits = limits
    this.#servers = servers
    this.calls = loadCalls()
    this.#certificates = new EtcdCertificates(tls ?? {})
    // A member without a leader returns an error, instead of stale data or no response.
    this.#metadata.set("hasleader", "true")
    this.#members = servers.map((server) => {
      const { protocol, host } = new URL(server)
      const secure = protocol === "https:"
      return new Client(
        host,
        secure ? this.#certificates.credentials : credentials.createInsecure(),
        channelOptions(limits),
      )
    })
  }

  /** Applies to new connections. */
  renew(tls: EtcdTls): void {
    this.#certificates.renew(tls)
  }

  get #member(): Client {
    const member = this.#members[this.#current]
    if (member === undefined) throw new TypeError("no etcd servers are given")
    return member
  }

  /** The members, for messages. */
  get location(): string {
    return this.#servers.join(",")
  }

  /**
   * Returns the response. Throws ServiceErrors that are not connection errors, Unavailable if no member responds in time, and
   * LostResponseError.
   */
  async call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    repeat: Repeat,
    withinMs = this.#limits.callMs,
  ): Promise<Outcome<Response>> {
    const deadline = performance.now() + withinMs
    const attemptMs = Math.min(this.#limits.attemptMs, withinMs)
    let isRepeated = false
    for (let attempt = 1; ; attempt++) {
      const member = this.#current
      const pause = retryDelay(this.#limits, attempt)
      try {
        return { response: await this.#attempt(method, request, attemptMs), isRepeated }
      } catch (error) {
        if (this.#closing.signal.aborted) throw closed(error)
        if (!isConnectionError(error)) throw error
        this.#leave(member)
        const nothingHappened = noMember.test(error.details.replace(/^etcdserver: /, ""))
        const late = performance.now() + pause > deadline
        if (repeat === "once" && !nothingHappened) throw this.#unavailable(error, LostResponseError)
        if (late) throw this.#unavailable(error)
        isRepeated ||= !nothingHappened
      }
      await delay(pause, undefined, { signal: this.#closing.signal }).catch((error: unknown) => {
        throw closed(error)
      })
    }
  }

  /** A stream to the current member. `abandon` makes the next call and stream use another member. */
  stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
  ): { stream: ClientDuplexStream<Request, Response>; abandon: () => void } {
    const member = this.#current
    const { path, requestSerialize, responseDeserialize } = method
    const stream = this.#member.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, this.#metadata)
    return { stream, abandon: () => this.#leave(member) }
  }

  close(): void {
    this.#closing.abort()
    for (const member of this.#members) member.close()
  }

  /** Another call may have switched members already. */
  #leave(member: number): void {
    if (member === this.#current) this.#current = (member + 1) % this.#members.length
  }

  #attempt<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method
    const options = { deadline: Date.now() + timeoutMs }
    return new Promise((resolve, reject) => {
      this.#member.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata,
        options,
        (error, response) => {
          if (error !== null) reject(error)
          else if (response === undefined) reject(new Error(`${path}: neither an answer nor an error`))
          else resolve(response)
        },
      )
    })
  }

  #unavailable(error: ServiceError, kind = StorageError): StorageError {
    return new kind("Unavailable", `etcd at ${this.location}: ${error.details}`, { cause: error })
  }
}

function channelOptions({ keepAliveMs, keepAliveTimeoutMs, maxRetryMs }: EtcdLimits) {
  return {
    "grpc.keepalive_time_ms": keepAliveMs,
    "grpc.keepalive_timeout_ms": keepAliveTimeoutMs,
    // Reconnects soon to a member that has come back.
    "grpc.initial_reconnect_backoff_ms": maxRetryMs,
    "grpc.min_reconnect_backoff_ms": maxRetryMs,
    "grpc.max_reconnect_backoff_ms": 2 * maxRetryMs,
    // The size of etcd's responses is bounded by the data we have written and requested.
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
  }
}

/** Whether the error is of the member, the connection or the leader, and not of the request. */
function isConnectionError(error: unknown): error is ServiceError {
  if (!isServiceError(error)) return false
  const { code, details } = error
  if (code === status.RESOURCE_EXHAUSTED) return /too many requests/.test(details)
  return (
    code === status.UNAVAILABLE ||
    code === status.DEADLINE_EXCEEDED ||
    code === status.CANCELLED ||
    // HTTP/2 streams that end without a status.
    code === status.INTERNAL ||
    code === status.UNKNOWN
  )
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "details" in error
}

function closed(cause: unknown): StorageError {
  return new StorageError("Closed", "the connection to etcd is closed", { cause })
}
