// What the filters know of a request, filled in running order (server.ts). The last step makes a RequestContext of it;
// nothing below sees this.

import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { Credentials } from "../authentication/types.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { RequestInfo } from "../request/request-info.ts"
import type { User } from "../request/user.ts"
import type { ControlPlaneCounts } from "../metrics/counts.ts"
import type { FlowSeries, Passing } from "../metrics/flow-counts.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import type { NamedTenant } from "../request/named-tenant.ts"
import type { GatewayResponse } from "./chain.ts"

export type { Filter, GatewayResponse } from "./chain.ts"

export interface Upgrade {
  socket: Duplex
  head: Buffer
}

/** One for all: an error made for each request would cost more than the rest of this class. */
const requestOver = new Error("the request is over")
const timeOver = new Error("the request's time is over")

/** Annotations of one request, and characters of each: webhooks of tenants write them into the operator's log. */
const maxAnnotations = 64
const maxAnnotation = 1024

export class RequestState implements Passing {
  readonly id: string
  readonly upgrade: Upgrade | undefined
  readonly startedAt = performance.now()
  /** Made when somebody asks for the signal: most requests are over before anybody listens. */
  #abort: AbortController | undefined
  readonly #callbacks: (() => void)[] = []
  #done = false
  #aborted: Error | undefined
  #annotations: Record<string, string> | undefined
  #named: NamedTenant | undefined
  #info: RequestInfo | undefined
  #query: URLSearchParams | undefined
  #credentials: Credentials | undefined
  #controlPlane: ControlPlane | undefined
  #user: User | undefined
  /** Where it is counted besides all, once it is known whose it is. */
  counts: ControlPlaneCounts | undefined
  /** Passing: what it is classified as, since when it waits, and whether it is worked on. */
  flow: FlowSeries | undefined
  queuedAt: number | undefined
  isDispatched = false
  /** For others: their requests, a tenant's webhooks. */
  waitedMs = 0
  /** Ended for the server's sake: too late, or one too many. */
  isTerminated = false
  /** Set when somebody acts as another user. */
  impersonator: User | undefined
  /** The caller holds a certificate of the gateway's administrators. */
  isAdministrator = false
  /** RequestContext.turn: set for those who wait for one another. */
  turn: (() => Promise<void> | undefined) | undefined
  /** RequestContext.pause, likewise. */
  pause: (() => Promise<void> | undefined) | undefined
  /** RequestContext.aside, likewise. */
  aside: (<T>(job: () => Promise<T>) => Promise<T>) | undefined

  constructor(id: string, request: IncomingMessage, response: GatewayResponse, upgrade: Upgrade | undefined) {
    this.id = id
    this.upgrade = upgrade
    response.once("close", () => this.#finish())
    // Who takes the socket over also takes it from the response, which then never closes.
    if (upgrade !== undefined) request.socket.once("close", () => this.#finish())
  }

  /** Answered, or nobody waits for the answer any more. */
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

  /** It took too long, rather than that it ended or nobody waits for it. */
  get isLate(): boolean {
    return this.#aborted !== undefined && this.#aborted !== requestOver
  }

  /** The time is over: whatever works for this request shall stop. */
  abort(reason: Error): void {
    this.#aborted ??= reason
    this.#abort?.abort(reason)
  }

  /** Whole seconds: those that end at the same distance share what Node keeps for a timer. */
  endAfter(seconds: number): void {
    const timer = setTimeout(() => this.abort(timeOver), seconds * 1000).unref()
    this.whenDone(() => clearTimeout(timer))
  }

  /** Calls once, when the request is over for whatever reason. */
  whenDone(callback: () => void): void {
    if (this.#done) callback()
    else this.#callbacks.push(callback)
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

  /** Undefined until somebody has looked. */
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

  /** What admission says about the request, for the audit entry. */
  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations
  }

  /** The first one of a name stays. */
  annotate(name: string, value: string): void {
    this.#annotations ??= {}
    if (Object.keys(this.#annotations).length < maxAnnotations)
      this.#annotations[name] ??= value.slice(0, maxAnnotation)
  }

  /** What was known when the request ended, for logs: any of it may be missing after an early refusal. */
  get summary(): { info: RequestInfo | undefined; controlPlane: ControlPlane | undefined; user: User | undefined } {
    return { info: this.#info, controlPlane: this.#controlPlane, user: this.#user }
  }
}

/** Filters are in order or this is a bug. */
function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not known yet: filters run in another order than they need`)
  return value
}
