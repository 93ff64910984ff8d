// The context of a request: plain data, nothing of express. Filters fill it in order (server.ts); the code below endpoints/ sees
// only this.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import type { HoldUnsent } from "../../client/http/unsent.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import type { RequestInfo } from "./request-info.ts"
import type { User } from "./user.ts"

export type AdmissionStep = "admit" | "validate"

/** Receives the events that metrics count. */
export interface RequestObserver {
  /** The start of the request in milliseconds since the epoch. */
  readonly startedAt: number
  admitted(step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void
  /** Also called when the webhook failed and its failure policy ignores that. */
  webhookAnswered(name: string, step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void
  /** Returns a function that receives the size of each event sent to a watch. */
  eventsOf(resource: GroupVersionResource, isBuiltIn: boolean): (bytes: number) => void
}

export interface RequestContext {
  /** The caller's control plane, the only one that is reachable from here. */
  controlPlane: ControlPlane
  info: RequestInfo
  user: User
  /** Correlates logs; absent for calls in process. */
  readonly id?: string
  query: URLSearchParams
  /** Keys are lower case. */
  headers: Readonly<Record<string, string | undefined>>
  /** Aborted when the client disconnects or the request times out. */
  signal: AbortSignal
  /** When the request times out, in terms of performance.now(); absent or undefined if it does not. */
  readonly deadline?: number | undefined
  /**
   * The request has ended: work that only serves its response, or has changed nothing yet, may stop. Absent if requests cannot end early.
   */
  readonly isOver?: boolean
  /** Limits the time until `signal` is aborted. Absent if requests cannot end early. */
  endAfter?(seconds: number): void
  /** Called when the write of one object begins, which has less time than other requests. Absent under the same condition. */
  limitWrite?(): void
  /** Adds a `Warning: 299` header for the user. Duplicates are dropped. */
  warn(message: string): void
  /** Returns a function that takes back the warnings that are added from here on. Absent if nobody reads them. */
  markWarnings?(): () => void
  /** Adds an annotation to the audit entry; absent without audit. */
  annotate?(key: string, value: string): void
  /** Absent if nothing is counted, as for calls in process. */
  observer?: RequestObserver
  /** Reports time spent waiting for an external party, which does not count as the server's latency. */
  waited?(ms: number): void
  /**
   * Called before each piece of work on the shared thread after an asynchronous wait. Returns undefined if the work may continue at
   * once, otherwise a promise to await. Absent if the thread is not shared.
   */
  turn?: () => Promise<void> | undefined
  /** Called between two steps of work that may each be long: like `turn`, but waits only if others have been waiting for long. */
  pause?: () => Promise<void> | undefined
  /** Runs a job that uses a processor outside that thread, possibly delayed. Absent under the same condition as `turn`. */
  aside?: <T>(job: () => Promise<T>) => Promise<T>
  /**
   * Called before the request holds much more memory than others do (large-places.ts); may be called again. Returns undefined if it may,
   * otherwise a promise to await; throws if the request has ended. Absent for calls in process.
   */
  enlarge?(): Promise<void> | undefined
  /**
   * Likewise, before it holds a body that large, once. Its own places: a webhook may need one of the others for its answer about the
   * object in the body.
   */
  enlargeBody?(): Promise<void> | undefined
  /** It may hold that much. */
  readonly isLarge?: boolean
  /** Called when it no longer holds that much. Not needed at the end of the request. */
  reduce?(): void
  /**
   * Called when a watch begins to wait for its client, which has not taken this much (unread-bytes.ts). Returns a function to call when
   * it waits no more. `cut` disconnects the client. Absent for calls in process.
   */
  holdUnread?(bytes: number, cut: () => void): (() => void) | undefined
  /** Likewise for a stream that is forwarded: a log, an exec, the answer of a proxy. */
  readonly holdUnsent?: HoldUnsent | undefined
  /** Called when it has become a stream, which may last as long as both sides like. */
  endTimeLimit?(): void
}
