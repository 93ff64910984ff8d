// When the change happened that is written into the endpoints of a Service: what others measure delays by. It is known only by
// comparison with what was seen before, so it is told of what a pod's readiness has brought about and of nothing else; upstream takes
// the annotation away where only the Service was changed.
// Source: k8s.io/endpointslice/util/trigger_time_tracker.go.

import type { Pod, Service } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/tenant-informer.ts"
import { podCondition } from "../pods/pod-state.ts"

export const triggerTimeAnnotation = "endpoints.kubernetes.io/last-change-trigger-time"

/** By the pod's name: when its readiness changed last. */
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

  /** To be asked once each time the Service is looked at, whether something is to be written or not. undefined: the annotation goes. */
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
