// The state of a request that the filters fill in, in running order (server.ts). The last step converts it into a RequestContext;
// code below does not see this state.

import type { HoldUnsent } from "../../client/http/unsent.ts"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { Credentials } from "../authentication/types.ts"
import { checkAwaited } from "../request/awaited.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { RequestInfo } from "../request/request-info.ts"
import type { User } from "../request/user.ts"
import type { ControlPlaneCounts } from "../metrics/counts.ts"
import type { FlowSeries, Passing } from "../metrics/flow-counts.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import type { Places } from "../request/places.ts"
import type { UnreadBytes } from "../request/unread-bytes.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import { Warnings } from "./warnings.ts"

export interface Upgrade {
  socket: Duplex
  head: Buffer
}

/** Shared by all requests: an error per request would cost more than the rest of this class. */
const requestOver = new Error("the request is over")
const timeoutError = new Error("the request's time is over")

/** Gateway timeout. */
const unanswered = 504

/** Annotations per request, and characters per annotation: webhooks of tenants write them into the operator's log. */
const maxAnnotations = 64
const maxAnnotation = 1024

export class RequestState implements Passing {
  readonly id: string
  readonly response: ServerResponse
  readonly upgrade: Upgrade | undefined
  readonly startedAt = performance.now()
  /** Created when the signal is first requested: most requests end before anything listens. */
  #abort: AbortController | undefined
  readonly #callbacks: (() => void)[] = []
  #done = false
  #aborted: Error | undefined
  #annotations: Record<string, string> | undefined
  #warnings: Warnings | undefined
  #named: NamedTenant | undefined
  #info: RequestInfo | undefined
  #query: URLSearchParams | undefined
  #credentials: Credentials | undefined
  #controlPlane: ControlPlane | undefined
  #user: User | undefined
  /** The metrics of its tenant, once the tenant is known. */
  counts: ControlPlaneCounts | undefined
  /** Its flow classification, when it began to wait, and whether it is being processed. */
  flow: FlowSeries | undefined
  queuedAt: number | undefined
  isDispatched = false
  /** Time spent waiting: for turns, and for external calls such as a tenant's webhooks. */
  waitedMs = 0
  /** The time that the client gives it, if it is limited by that. */
  askedMs: number | undefined
  /** When its time is over, in terms of performance.now(); undefined if that is not limited. */
  deadline: number | undefined
  /** Ends that limit, for a request that has become a stream. */
  endTimeLimit: (() => void) | undefined
  /** Ended by the server: timed out, or over a limit. */
  isTerminated = false
  /** Its tenant, if another process answers it (workers/forward.ts). */
  tenantElsewhere: { readonly exists: boolean } | undefined
  /** Set when the caller impersonates another user. */
  impersonator: User | undefined
  /** The caller holds a certificate of the gateway's administrators. */
  isAdministrator = false
  /** RequestContext.turn: set for requests that take turns. */
  turn: (() => Promise<void> | undefined) | undefined
  /** RequestContext.pause, likewise. */
  pause: (() => Promise<void> | undefined) | undefined
  /** RequestContext.aside, likewise. */
  aside: (<T>(job: () => Promise<T>) => Promise<T>) | undefined
  /** Set for the same requests. */
  largePlaces: Places | undefined
  largeBodies: Places | undefined
  unread: UnreadBytes | undefined
  holdUnsent: HoldUnsent | undefined
  /** Gives its large place back. */
  #leaveLarge: (() => void) | undefined
  /** The end of the request does so. A watch may take a place for each of its events. */
  #leavesAtEnd = false

  constructor(id: string, request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | undefined) {
    this.id = id
    this.response = response
    this.upgrade = upgrade
    response.once("close", () => this.#finish())
    // A handler that takes over the socket detaches it from the response, which then never closes.
    if (upgrade !== undefined) request.socket.once("close", () => this.#finish())
  }

  /** Answered, or the client no longer waits for the response. */
  get isOver(): boolean {
    return this.#done
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted)
    }
    return this.#abort.signal
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined
  }

  /** It timed out (it did not end by itself, and the client did not leave). */
  get isLate(): boolean {
    return this.#aborted !== undefined && this.#aborted !== requestOver
  }

  /** The request timed out: all work for it must stop. */
  abort(reason: Error): void {
    this.#aborted ??= reason
    this.#abort?.abort(reason)
    this.#leaveLarge?.() // also if it waits for its place
  }

  /** Whole seconds, because Node shares one timer list among timers of the same duration. */
  endAfter(seconds: number): void {
    const timer = setTimeout(() => this.abort(timeoutError), seconds * 1000).unref()
    this.whenDone(() => clearTimeout(timer))
  }

  /** Calls the function once, when the request ends for any reason. */
  whenDone(callback: () => void): void {
    if (this.#done) callback()
    else this.#callbacks.push(callback)
  }

  /** RequestContext.enlarge. */
  enlarge(): Promise<void> | undefined {
    if (this.largePlaces === undefined) return undefined
    const isOver = (): void => checkAwaited({ isOver: this.isAborted })
    isOver()
    if (this.#leaveLarge !== undefined) return undefined
    const callbacks: (() => void)[] = []
    const leave = (): void => callbacks.splice(0).forEach((callback) => callback())
    this.#leaveLarge = leave
    if (!this.#leavesAtEnd) {
      this.#leavesAtEnd = true
      this.whenDone(() => this.#leaveLarge?.())
    }
    const whenDone = (callback: () => void): void => {
      if (this.#done) callback()
      else callbacks.push(callback)
    }
    return this.largePlaces.take({ whenDone })?.then(isOver)
  }

  get isLarge(): boolean {
    return this.#leaveLarge !== undefined
  }

  /** RequestContext.enlargeBody. */
  enlargeBody(): Promise<void> | undefined {
    return this.largeBodies?.take(this)
  }

  /** RequestContext.reduce. */
  reduce(): void {
    this.#leaveLarge?.()
    this.#leaveLarge = undefined
  }

  #finish(): void {
    if (this.#done) return
    this.#done = true
    this.abort(requestOver)
    for (const callback of this.#callbacks) callback()
  }

  get named(): NamedTenant {
    return known(this.#named, "where the request goes")
  }
  set named(named: NamedTenant) {
    this.#named = named
  }

  get isLongRunning(): boolean {
    return this.upgrade !== undefined || (this.#info !== undefined && isLongRunning(this.#info))
  }

  get info(): RequestInfo {
    return known(this.#info, "request info")
  }
  set info(info: RequestInfo) {
    this.#info = info
  }

  get query(): URLSearchParams {
    return known(this.#query, "query")
  }
  set query(query: URLSearchParams) {
    this.#query = query
  }

  /** Undefined until first determined. */
  get presented(): Credentials | undefined {
    return this.#credentials
  }
  get credentials(): Credentials {
    return known(this.#credentials, "credentials")
  }
  set credentials(credentials: Credentials) {
    this.#credentials = credentials
  }

  get controlPlane(): ControlPlane {
    return known(this.#controlPlane, "control plane")
  }
  set controlPlane(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane
  }

  get user(): User {
    return known(this.#user, "user")
  }
  set user(user: User) {
    this.#user = user
  }

  /** Annotations from admission, for the audit entry. */
  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations
  }

  /** The first annotation of a name is kept. */
  annotate(name: string, value: string): void {
    this.#annotations ??= {}
    if (Object.keys(this.#annotations).length < maxAnnotations)
      this.#annotations[name] ??= value.slice(0, maxAnnotation)
  }

  get warnings(): Warnings {
    return (this.#warnings ??= new Warnings(this.response))
  }

  /** What was known when the request ended, for logs. Any field may be missing after an early rejection. */
  get summary(): { info: RequestInfo | undefined; controlPlane: ControlPlane | undefined; user: User | undefined } {
    return { info: this.#info, controlPlane: this.#controlPlane, user: this.#user }
  }
}

/** Throws if the filters run in the wrong order, which is a bug. */
function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not known yet: filters run in another order than they need`)
  return value
}

/** As kube-apiserver reports it: what was not answered because the client had left has timed out. */
export function codeOf(state: RequestState, response: Pick<ServerResponse, "headersSent" | "statusCode">): number {
  return response.headersSent || state.upgrade !== undefined ? response.statusCode : unanswered
}
