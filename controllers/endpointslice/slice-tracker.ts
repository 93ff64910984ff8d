// What a controller has written of the slices of each Service. Nothing more is written while the cache does not show that yet, nor, as
// upstream, while one of them is no longer among the Service's slices: somebody has given it to another controller or Service, or it
// was deleted and is held. That ends when the slice is back or gone, or with release().
// Source: k8s.io/endpointslice/util/endpointslice_tracker.go.

import { serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { EndpointSlice } from "../../apimachinery/object.ts"
import type { Clock } from "../../client/clock.ts"
import { isAtLeast, patienceMs } from "../write-tracker.ts"

interface Known {
  name: string
  at: number
  /** undefined: it was deleted. */
  resourceVersion: string | undefined
  /** The cache has shown the write. */
  isShown: boolean
}

/** A slice of the Service's namespace, whoever manages it. */
type Cached = (name: string) => EndpointSlice | undefined

/** By uid. */
type OfService = Map<string, Known>

export class SliceTracker {
  readonly #clock: Clock
  readonly #isFollowed: (tenant: string) => boolean
  /** By tenant, and "namespace/name" of the Service. */
  readonly #known = new Map<string, Map<string, OfService>>()

  /** `isFollowed`: whether the tenant's slices are. Of another one, which is asleep or gone, nothing is kept. */
  constructor(clock: Clock, isFollowed: (tenant: string) => boolean) {
    this.#clock = clock
    this.#isFollowed = isFollowed
  }

  /** Created or updated. */
  wrote(tenant: string, slice: EndpointSlice): void {
    this.#set(tenant, slice, { resourceVersion: slice.metadata.resourceVersion ?? "0", isShown: false })
  }

  deleted(tenant: string, slice: EndpointSlice): void {
    this.#set(tenant, slice, { resourceVersion: undefined, isShown: false })
  }

  /** In the cache, as it should be. */
  found(tenant: string, slice: EndpointSlice): void {
    const isKnown = this.#find(tenant, slice)?.has(slice.metadata.uid ?? "") === true
    if (!isKnown) this.#set(tenant, slice, { resourceVersion: slice.metadata.resourceVersion ?? "0", isShown: true })
  }

  /** Deleted by whomever, while it was still this controller's. */
  gone(tenant: string, slice: EndpointSlice): void {
    this.#find(tenant, slice)?.delete(slice.metadata.uid ?? "")
  }

  forget(tenant: string): void {
    this.#known.delete(tenant)
  }

  /**
   * The Service has no slices of this controller. What the cache does not show yet is still awaited, since it may get some again: true if
   * there is such.
   */
  release(tenant: string, service: string, cached: Cached): boolean {
    const known = this.#known.get(tenant)?.get(service)
    if (known === undefined) return false
    for (const [uid, write] of known) if (look(uid, write, cached) || this.#isLost(write)) known.delete(uid)
    if (known.size === 0) this.#known.get(tenant)?.delete(service)
    return known.size > 0
  }

  #isLost({ at }: Known): boolean {
    return this.#clock.elapsed() - at > patienceMs
  }

  /** Whether these are what was written. "later": the cache is behind. "no": not until somebody else does something. */
  isWritten(tenant: string, service: string, slices: readonly EndpointSlice[], cached: Cached): "yes" | "later" | "no" {
    const known = this.#known.get(tenant)?.get(service)
    if (known === undefined) return "yes"
    const present = new Map(slices.map((slice) => [slice.metadata.uid ?? "", slice]))
    let isLate = false
    for (const [uid, write] of known) {
      look(uid, write, cached)
      const slice = present.get(uid)
      const isDeleted = write.resourceVersion === undefined
      if (isDeleted ? slice === undefined : slice !== undefined && isShown(write, slice)) {
        if (isDeleted && cached(write.name)?.metadata.uid !== uid) known.delete(uid)
        continue
      }
      if (write.isShown) return "no"
      if (this.#isLost(write)) known.delete(uid)
      else isLate = true
    }
    return isLate ? "later" : "yes"
  }

  #set(tenant: string, slice: EndpointSlice, write: Pick<Known, "resourceVersion" | "isShown">): void {
    if (!this.#isFollowed(tenant)) return
    const { name = "", uid = "" } = slice.metadata
    this.#of(tenant, slice).set(uid, { name, at: this.#clock.elapsed(), ...write })
  }

  #find(tenant: string, slice: EndpointSlice): OfService | undefined {
    return this.#known.get(tenant)?.get(serviceOf(slice))
  }

  #of(tenant: string, slice: EndpointSlice): OfService {
    const services = this.#known.get(tenant) ?? new Map<string, OfService>()
    this.#known.set(tenant, services)
    const known = services.get(serviceOf(slice)) ?? new Map<string, Known>()
    services.set(serviceOf(slice), known)
    return known
  }
}

const serviceOf = ({ metadata: { namespace = "", labels = {} } }: EndpointSlice): string =>
  `${namespace}/${labels[serviceNameLabel] ?? ""}`

/** Whether the cache shows the write, or has shown it. */
function look(uid: string, write: Known, cached: Cached): boolean {
  const slice = cached(write.name)
  write.isShown ||= slice?.metadata.uid === uid ? isShown(write, slice) : write.resourceVersion === undefined
  return write.isShown
}

function isShown({ resourceVersion }: Known, slice: EndpointSlice): boolean {
  if (resourceVersion === undefined) return slice.metadata.deletionTimestamp !== undefined
  return isAtLeast(slice, resourceVersion)
}
