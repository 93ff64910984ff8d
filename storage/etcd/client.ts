// Calls to an etcd cluster of one or more members: one connection per member, one member in use at a time. When it does not
// answer, the next one is asked: always for reads, for writes when it is certain that nothing was written, or when the
// caller says that writing twice is the same as writing once.

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
import type { EtcdLimits } from "./limits.ts"
import { EtcdCertificates, type EtcdTls } from "./certificates.ts"
import { type Calls, loadCalls } from "./wire.ts"

export interface EtcdClientOptions {
  /** "http://host:port" or "https://host:port", all of one kind. */
  servers: readonly string[]
  tls?: EtcdTls
  limits: EtcdLimits
}

/** again: the call has the same outcome when it happens twice. once: it is repeated only when nothing has happened yet. */
export type Repeat = "again" | "once"

export interface Outcome<Response> {
  response: Response
  /** An attempt before this one may have happened, too. */
  isRepeated: boolean
}

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
    // A member that has lost the others says so, instead of answering from the past or not at all.
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

  /** For connections from now on. */
  renew(tls: EtcdTls): void {
    this.#certificates.renew(tls)
  }

  get #member(): Client {
    const member = this.#members[this.#current]
    if (member === undefined) throw new TypeError("no etcd servers are given")
    return member
  }

  /** Of its members, for messages. */
  get location(): string {
    return this.#servers.join(",")
  }

  /** The answer, or a ServiceError that is not the connection's; Unavailable when nobody has answered in time. */
  async call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    repeat: Repeat,
  ): Promise<Outcome<Response>> {
    const { callMs, retryMs, maxRetryMs } = this.#limits
    const deadline = performance.now() + callMs
    let pause = retryMs
    for (let isRepeated = false; ;) {
      const member = this.#current
      try {
        return { response: await this.#attempt(method, request), isRepeated }
      } catch (error) {
        if (this.#closing.signal.aborted) throw closed(error)
        if (!isConnectionError(error)) throw error
        this.#leave(member)
        const nothingHappened = noMember.test(error.details.replace(/^etcdserver: /, ""))
        const late = performance.now() + pause > deadline
        if (late || (repeat === "once" && !nothingHappened)) throw this.#unavailable(error)
        isRepeated ||= !nothingHappened
      }
      await delay(pause, undefined, { signal: this.#closing.signal }).catch((error: unknown) => {
        throw closed(error)
      })
      pause = Math.min(pause * 2, maxRetryMs)
    }
  }

  /** A stream to the member in use. `abandon` makes the next call and stream go to another. */
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

  /** Somebody else may have left it already. */
  #leave(member: number): void {
    if (member === this.#current) this.#current = (member + 1) % this.#members.length
  }

  #attempt<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method
    const options = { deadline: Date.now() + this.#limits.attemptMs }
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

  #unavailable(error: ServiceError): StorageError {
    return new StorageError("Unavailable", `etcd at ${this.location}: ${error.details}`, { cause: error })
  }
}

function channelOptions({ keepAliveMs, keepAliveTimeoutMs, maxRetryMs }: EtcdLimits) {
  return {
    "grpc.keepalive_time_ms": keepAliveMs,
    "grpc.keepalive_timeout_ms": keepAliveTimeoutMs,
    // A member that comes back is found soon.
    "grpc.initial_reconnect_backoff_ms": maxRetryMs,
    "grpc.min_reconnect_backoff_ms": maxRetryMs,
    "grpc.max_reconnect_backoff_ms": 2 * maxRetryMs,
    // What etcd sends is bounded by what we have written and asked for.
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
  }
}

/** The member, the way to it or its leader is at fault, not the request. */
function isConnectionError(error: unknown): error is ServiceError {
  if (!isServiceError(error)) return false
  const { code, details } = error
  if (code === status.RESOURCE_EXHAUSTED) return /too many requests/.test(details)
  return (
    code === status.UNAVAILABLE ||
    code === status.DEADLINE_EXCEEDED ||
    code === status.CANCELLED ||
    // HTTP/2 streams that end without a word.
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
