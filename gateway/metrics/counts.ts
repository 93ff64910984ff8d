// The counts of one control plane, or of all together; the latter exclude names that tenants choose (flow schemas, webhooks), since
// tenants must not create labels in the shared metrics.

import type { GroupVersionResource } from "../../apimachinery/object.ts"
import type { Decision } from "../authorization/types.ts"
import type { AdmissionStep, RequestObserver } from "../request/context.ts"
import { AccessCounts, kindOfUser } from "./access-counts.ts"
import { AdmissionCounts } from "./admission-counts.ts"
import { EventCounts } from "./event-counts.ts"
import { FlowCounts } from "./flow-counts.ts"
import { RequestCounts } from "./request-counts.ts"

export class Counts {
  readonly requests = new RequestCounts()
  readonly access = new AccessCounts()
  readonly events = new EventCounts()
  readonly admission = new AdmissionCounts()

  reset(): void {
    for (const one of [this.requests, this.access, this.events, this.admission]) one.reset()
  }

  print(): string {
    return [this.requests, this.access, this.events, this.admission].map((one) => one.print()).join("")
  }
}

/** The counts of one control plane; events are also counted in those of all control planes. */
export class ControlPlaneCounts implements RequestObserver {
  readonly own = new Counts()
  readonly flows = new FlowCounts()
  readonly all: Counts
  #startedAt = Date.now()

  constructor(all: Counts) {
    this.all = all
  }

  /** Milliseconds since the epoch: counting starts again when the tenant has slept, and on a reset. */
  get startedAt(): number {
    return this.#startedAt
  }

  /** Resets only its own counts, not those of all control planes. */
  reset(): void {
    this.own.reset()
    this.flows.reset()
    this.#startedAt = Date.now()
  }

  authenticated(user: string, certificateEnd: number | undefined): void {
    const kind = kindOfUser(user)
    this.own.access.authenticated(kind, certificateEnd)
    this.all.access.authenticated(kind, certificateEnd)
  }

  /** Counts invalid credentials. */
  refused(): void {
    this.own.access.refused()
    this.all.access.refused()
  }

  authorized(decision: Decision["decision"]): void {
    this.own.access.authorized(decision)
    this.all.access.authorized(decision)
  }

  admitted(step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void {
    this.own.admission.step(step, operation, rejected, seconds)
    this.all.admission.step(step, operation, rejected, seconds)
  }

  webhookAnswered(name: string, step: AdmissionStep, operation: string, rejected: boolean, seconds: number): void {
    this.own.admission.webhook(name, step, operation, rejected, seconds)
    this.all.admission.webhook("", step, operation, rejected, seconds)
  }

  /** Custom resources, whose names tenants choose, are counted as one in the counts of all control planes. */
  eventsOf(resource: GroupVersionResource, isBuiltIn: boolean): (bytes: number) => void {
    const own = this.own.events.of(resource)
    const all = this.all.events.of(isBuiltIn ? resource : { group: "", version: "", resource: "" })
    return (bytes) => {
      own(bytes)
      all(bytes)
    }
  }
}
