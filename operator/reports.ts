// Reports the state of VirtualClusters: in their status, and as Events when it changes.

import { equalJson } from "../apimachinery/equality.ts"
import type { KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import type { Clock } from "../client/clock.ts"
import type { EventRecorder } from "../client/events.ts"
import { virtualClusters } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant } from "../client/tenants.ts"
import { claimsOf } from "./claims.ts"
import { operatorLimits } from "./options.ts"
import { isSaid, nextStatus, printQuota, type Report } from "./status.ts"
import { tenancyAPIVersion, type VirtualCluster } from "./types.ts"

export interface ReportsParts {
  superClient: KubeClient
  events: EventRecorder
  clock: Clock
}

export class Reports {
  readonly #parts: ReportsParts
  /**
   * By uid, the resourceVersion that the own status update has produced: kept until it is observed or the object has changed
   * again.
   */
  readonly #reported = new Map<string, string>()
  /** Uids of the owners of tenants whose VirtualCluster is to be reconciled for another reason than a change. */
  readonly #due = new Set<string>()

  constructor(parts: ReportsParts) {
    this.#parts = parts
  }

  /** Returns true once after the report that a tenant runs, for the change which that report has caused. */
  isOwnChange(virtualCluster: VirtualCluster): boolean {
    const { uid = "", resourceVersion } = virtualCluster.metadata
    // It may fail, and is repeated then.
    if (this.#takeDue(virtualCluster)) this.#reported.delete(uid)
    return this.#reported.get(uid) === resourceVersion && this.#reported.delete(uid)
  }

  /** Something besides the VirtualCluster has changed, perhaps while it is being reconciled. */
  demand({ uid }: Tenant["virtualCluster"]): void {
    this.#due.add(uid)
  }

  forget(virtualCluster: VirtualCluster): void {
    this.#reported.delete(virtualCluster.metadata.uid ?? "")
    this.#takeDue(virtualCluster)
  }

  /** One that has adopted a tenant is not the owner that the tenant names. */
  #takeDue(virtualCluster: VirtualCluster): boolean {
    return claimsOf(virtualCluster).filter(({ identity }) => this.#due.delete(identity.uid)).length > 0
  }

  /** What the report does not mention remains. Does nothing if the object is gone. */
  async report(virtualCluster: VirtualCluster, report: Report): Promise<void> {
    const { metadata, status = {} } = virtualCluster
    const { clusterNamespace, quota } = status
    const wanted = nextStatus(status, { clusterNamespace, quota, ...report }, this.#parts.clock.now())
    if (wanted === undefined) return
    const { namespace, name = "", uid } = metadata
    const { superClient } = this.#parts
    try {
      const patch = { metadata: { uid }, status: wanted }
      const options = { type: "merge", subresource: "status" } as const
      const reported = await superClient.patch(virtualClusters, namespace, name, patch, options)
      if (report.phase === "Running" && uid !== undefined && isAsRead(reported, virtualCluster))
        this.#reported.set(uid, reported.metadata.resourceVersion ?? "")
    } catch (error) {
      if (!isNotFound(error)) throw error
      return
    }
    this.#announce(virtualCluster, report)
  }

  /**
   * Reports that the tenant is being made, unless that is over before anyone could read it. Resolves when it has reported, or when
   * `made` has settled.
   */
  async reportIfSlow(virtualCluster: VirtualCluster, clusterNamespace: string, made: Promise<unknown>): Promise<void> {
    const { promise: isSlow, resolve: settle } = Promise.withResolvers<boolean>()
    const timer = this.#parts.clock.after(operatorLimits.slowMs, () => settle(true))
    const end = (): void => {
      timer.cancel()
      settle(false)
    }
    made.then(end, end)
    if (!(await isSlow)) return
    const message = "the tenant is being made"
    await this.report(virtualCluster, { phase: "Pending", reason: "ClusterCreating", message, clusterNamespace })
  }

  #announce(virtualCluster: VirtualCluster, report: Report): void {
    const { status } = virtualCluster
    const { phase, reason, message, quota } = report
    const { superClient, events } = this.#parts
    const object = { ...virtualCluster, apiVersion: tenancyAPIVersion, kind: "VirtualCluster" }
    const type = phase === "Running" || reason === "ClusterCreating" ? "Normal" : "Warning"
    if (!isSaid(status, report)) events.event(superClient, object, type, reason, message)
    else if (phase === "Running" && !equalJson(status?.quota, quota))
      events.event(superClient, object, "Normal", "QuotaChanged", printQuota(quota))
  }
}

/** Its owner has changed nothing since: a change would be taken for that of the status. */
function isAsRead({ metadata: now }: KubeObject, { metadata: before }: VirtualCluster): boolean {
  return (
    now.generation === before.generation &&
    now.deletionTimestamp === before.deletionTimestamp &&
    equalJson(now.annotations, before.annotations)
  )
}
