// The time of the change that caused an update of a Service's endpoints, from which clients compute delays. It is determined by
// comparison with the previous sync, so only changes of pods' readiness have it. As upstream, the annotation is removed if only the
// Service changed.
// Source: k8s.io/endpointslice/util/trigger_time_tracker.go.

import type { Pod, Service } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { podCondition } from "../pods/pod-state.ts"

export const triggerTimeAnnotation = "endpoints.kubernetes.io/last-change-trigger-time"

/** By pod name: the last transition of its readiness. */
type Seen = ReadonlyMap<string, string>

export class TriggerTimes {
  /** By tenant, then by the Service's uid. */
  readonly #seen = new Map<string, Map<string, Seen>>()

  constructor(services: TenantInformer<Service>) {
    services.subscribe({
      deleted: (tenant, { metadata: { uid = "" } }) => this.#seen.get(tenant)?.delete(uid),
      removed: (tenant) => this.#seen.delete(tenant),
      asleep: (tenant) => this.#seen.delete(tenant),
    })
  }

  /** Call once per sync of the Service, whether anything is written or not. undefined: the annotation is removed. */
  next(tenant: string, service: Service, pods: readonly Pod[]): string | undefined {
    const { uid = "", creationTimestamp } = service.metadata
    const ofTenant = this.#seen.get(tenant) ?? new Map<string, Seen>()
    this.#seen.set(tenant, ofTenant)
    const before = ofTenant.get(uid)
    const now = new Map<string, string>()
    let earliest: string | undefined
    for (const pod of pods) {
      const { name = "" } = pod.metadata
      const at = podCondition(pod, "Ready")?.lastTransitionTime ?? ""
      if (at === "") continue
      now.set(name, at)
      if (at > (before?.get(name) ?? "") && (earliest === undefined || at < earliest)) earliest = at
    }
    ofTenant.set(uid, now)
    return before === undefined ? (creationTimestamp ?? undefined) : earliest
  }
}
