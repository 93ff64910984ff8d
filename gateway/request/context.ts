// What a request carries down the chain: plain data, nothing of express. Filters fill it in running order
// (server.ts); everything below endpoints/ sees only this.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import type { RequestInfo } from "./request-info.ts"
import type { User } from "./user.ts"

export type AdmissionStep = "admit" | "validate"

/** Told of what is counted. */
export interface RequestObserver {
  /** Milliseconds since the epoch: since when it counts. */
  readonly startedAt: number
  admitted(step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void
  /** Also when it did not answer, and is done without. */
  webhookAnswered(name: string, step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void
  /** What to tell of each event's bytes that a watch is sent. */
  eventsOf(resource: GroupVersionResource, isBuiltIn: boolean): (bytes: number) => void
}

export interface RequestContext {
  /** The caller's control plane, and the only one that can be reached from here. */
  controlPlane: ControlPlane
  info: RequestInfo
  user: User
  query: URLSearchParams
  /** Lower-case names. */
  headers: Readonly<Record<string, string | undefined>>
  /** Ends when the client is gone or the request's time is over. */
  signal: AbortSignal
  /** It has ended: what is only read for its answer need not go on. Absent where requests have no end of their own. */
  readonly isOver?: boolean
  /** `signal` ends then at the latest. Absent where requests have no end of their own. */
  endAfter?(seconds: number): void
  /** Shown to the user as `Warning: 299` headers. Duplicates are dropped. */
  warn(message: string): void
  /** For the audit entry; absent where there is none. */
  annotate?(key: string, value: string): void
  /** Absent where nothing is counted: in process. */
  observer?: RequestObserver
  /** It waited for somebody else, who is not to be blamed on the server. */
  waited?(ms: number): void
  /**
   * Asked before each stretch of work on the thread that all share, after having waited for something else: undefined when it
   * may go on at once, else what to wait for. Absent where nobody is to be shared with.
   */
  turn?: () => Promise<void> | undefined
  /** Asked between two steps of work that may each be long: as `turn`, but waits only when others have waited for long. */
  pause?: () => Promise<void> | undefined
  /** Runs what works beside that thread, on a processor all the same: perhaps later. Absent as `turn`. */
  aside?: <T>(job: () => Promise<T>) => Promise<T>
}
