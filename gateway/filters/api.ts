// The end of the chain: converts the state of the filters into the plain RequestContext that all code below uses.

import type { HoldUnsent } from "../../client/http/unsent.ts"
import type { APIHandler } from "../endpoints/installer.ts"
import type { RequestContext, RequestObserver } from "../request/context.ts"
import type { RequestInfo } from "../request/request-info.ts"
import type { User } from "../request/user.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import type { Filter, GatewayRequest, GatewayResponse } from "./chain.ts"
import type { RequestState } from "./state.ts"
import type { WriteTimeout } from "./timeout.ts"

export function callAPI(handler: APIHandler, writeTimeout: WriteTimeout): Filter {
  return (request, response) => {
    const { state } = response.locals
    const { upgrade } = state
    const ctx = new HandledRequest(request, response, writeTimeout)
    return handler(ctx, { request, response, ...(upgrade === undefined ? {} : { upgrade }) })
  }
}

/** A class, because there is one per request: its own closures and accessors would be most of its cost. */
class HandledRequest implements RequestContext {
  readonly controlPlane: ControlPlane
  readonly info: RequestInfo
  readonly user: User
  readonly query: URLSearchParams
  readonly headers: RequestContext["headers"]
  declare readonly observer?: RequestObserver
  declare readonly turn?: () => Promise<void> | undefined
  declare readonly pause?: () => Promise<void> | undefined
  declare readonly aside?: <T>(job: () => Promise<T>) => Promise<T>
  readonly #state: RequestState
  readonly #request: GatewayRequest
  readonly #writeTimeout: WriteTimeout
  readonly #response: GatewayResponse

  constructor(request: GatewayRequest, response: GatewayResponse, writeTimeout: WriteTimeout) {
    const { state } = response.locals
    this.controlPlane = state.controlPlane
    this.info = state.info
    this.user = state.user
    this.query = state.query
    this.headers = request.headers as RequestContext["headers"]
    if (state.counts !== undefined) this.observer = state.counts
    if (state.turn !== undefined) this.turn = state.turn
    if (state.pause !== undefined) this.pause = state.pause
    if (state.aside !== undefined) this.aside = state.aside
    this.#state = state
    this.#request = request
    this.#writeTimeout = writeTimeout
    this.#response = response
  }

  get id(): string {
    return this.#state.id
  }

  get signal(): AbortSignal {
    return this.#state.signal
  }

  get isOver(): boolean {
    return this.#state.isAborted
  }

  get deadline(): number | undefined {
    return this.#state.deadline
  }

  endTimeLimit(): void {
    this.#state.endTimeLimit?.()
  }

  endAfter(seconds: number): void {
    this.#state.endAfter(seconds)
  }

  limitWrite(): void {
    this.#writeTimeout.begin(this.#request, this.#response)
  }

  enlarge(): Promise<void> | undefined {
    return this.#state.enlarge()
  }

  enlargeBody(): Promise<void> | undefined {
    return this.#state.enlargeBody()
  }

  get isLarge(): boolean {
    return this.#state.isLarge
  }

  reduce(): void {
    this.#state.reduce()
  }

  holdUnread(bytes: number, cut: () => void): (() => void) | undefined {
    return this.#state.unread?.add(bytes, cut)
  }

  get holdUnsent(): HoldUnsent | undefined {
    return this.#state.holdUnsent
  }

  waited(ms: number): void {
    this.#state.waitedMs += ms
  }

  annotate(key: string, value: string): void {
    this.#state.annotate(key, value)
  }

  warn(message: string): void {
    this.#state.warnings.add(message)
  }

  markWarnings(): () => void {
    return this.#state.warnings.mark()
  }
}
