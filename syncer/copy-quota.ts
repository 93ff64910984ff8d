// What a tenant's quota allows it to have in the super cluster, counted there. The gateway refuses what exceeds the quota in the tenant,
// where the writer gets an answer, but by the tenant's objects, whose statuses the tenant may write, and which it may remove while their
// copies still end. So whatever the tenant says, it has no more copies than this at a time.

import { isFinished } from "../apimachinery/core/pod-phase.ts"
import type { KubeObject, Pod } from "../apimachinery/object.ts"
import { forbidden, type StatusError } from "../apimachinery/status.ts"
import type { Clock } from "../client/clock.ts"
import { namespaces, persistentVolumeClaims, pods, runtimeClasses } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import type { Tenant, TenantQuota } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import type { Place } from "./conversion/super-object.ts"
import { syncerLimits } from "./options.ts"

interface Counted {
  resource: Resource
  limit(quota: TenantQuota): number | undefined
  takes(copy: KubeObject): boolean
}

const counted: readonly Counted[] = [
  { resource: pods, limit: ({ pods: limit }) => limit, takes: (copy) => !isFinished(copy as Pod) },
  { resource: namespaces, limit: maxNamespaces, takes: () => true },
  { resource: persistentVolumeClaims, limit: ({ persistentVolumeClaims: limit }) => limit, takes: () => true },
  { resource: runtimeClasses, limit: () => syncerLimits.runtimeClasses, takes: () => true },
]

export class CopyQuota {
  readonly #caches: Caches
  readonly #clock: Clock
  /** By tenant and resource, copies whose creation has begun and that the cache has not shown, with the time. */
  readonly #begun = new Map<string, Map<string, number>>()

  constructor(caches: Caches, clock: Clock) {
    this.#caches = caches
    this.#clock = clock
  }

  /** Called before a copy is created. Throws Forbidden. Returns a function to call if it is not created. */
  claim({ clusterKey, quota = {} }: Tenant, resource: Resource, place: Place): () => void {
    const kind = counted.find((one) => one.resource === resource)
    const limited = kind?.limit(quota)
    if (kind === undefined || limited === undefined) return () => undefined
    const id = idOf(place)
    const begun = this.#begunOf(clusterKey, resource)
    begun.delete(id)
    const copies = this.#caches.copiesOf(resource, clusterKey)
    const counts = (copy: KubeObject): boolean => {
      const other = idOf(copy.metadata)
      return other !== id && !begun.has(other) && kind.takes(copy)
    }
    let used = begun.size + copies.length
    // Far from the limit they need not be looked at: there may be thousands, for each of which this is called.
    if (used >= limited) used = begun.size + copies.filter(counts).length
    if (used >= limited) throw exceeded(resource, place.name, { used, limited })
    begun.set(id, this.#clock.elapsed())
    return () => this.#forget(clusterKey, resource, id)
  }

  /** Returns a function that unsubscribes. */
  start(): () => void {
    const stops = counted.map(({ resource }) => {
      const seen = (copy: KubeObject): void => {
        const { clusterKey = "" } = recordedOwner(copy) ?? {}
        this.#forget(clusterKey, resource, idOf(copy.metadata))
      }
      return this.#caches.superInformer(resource).subscribe({ added: seen, updated: seen, deleted: seen })
    })
    return () => stops.forEach((stop) => stop())
  }

  #forget(clusterKey: string, resource: Resource, id: string): void {
    const group = groupOf(clusterKey, resource)
    const begun = this.#begun.get(group)
    begun?.delete(id)
    if (begun?.size === 0) this.#begun.delete(group)
  }

  #begunOf(clusterKey: string, resource: Resource): Map<string, number> {
    const group = groupOf(clusterKey, resource)
    let begun = this.#begun.get(group)
    if (begun === undefined) this.#begun.set(group, (begun = new Map()))
    // Deleted while the cache was being listed anew, which has then never shown them. The oldest come first.
    for (const [id, since] of begun) {
      if (this.#clock.elapsed() - since <= syncerLimits.unseenCopyMs) break
      begun.delete(id)
    }
    return begun
  }
}

/** Of a tenant in super, with those that still end. */
export function maxNamespaces({ namespaces: limit }: TenantQuota): number {
  return limit ?? syncerLimits.namespaces
}

/** In the words of a ResourceQuota. */
export function exceeded(
  { group, resource }: Resource,
  name: string,
  { used, limited }: { used: number; limited: number },
): StatusError {
  const [requested, before, most] = [1, used, limited].map((count) => `${resource}=${count}`)
  const detail = `exceeded quota: tenant, requested: ${requested}, used: ${before}, limited: ${most}`
  return forbidden({ group, resource }, name, detail)
}

const groupOf = (clusterKey: string, { resource }: Resource): string => `${clusterKey} ${resource}`
const idOf = ({ namespace = "", name = "" }: { namespace?: string | undefined; name?: string }): string =>
  `${namespace}/${name}`
