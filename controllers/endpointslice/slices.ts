// What the two controllers of EndpointSlices share: the labels that name a slice's Service and controller, and the slices of one of
// them as a source of keys.

import { managedByLabel, serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import type { EndpointSlice, KubeObject } from "../../apimachinery/object.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { type StatusError, unexplained } from "../../apimachinery/status.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"
import { roundPauseMs } from "../round-pause.ts"
import type { SliceTracker } from "./slice-tracker.ts"

export const isManagedBy = ({ metadata }: EndpointSlice, manager: string): boolean =>
  metadata.labels?.[managedByLabel] === manager

/** Upstream's controllers cannot tell what has become of a slice either. */
export const outdatedCache = (): StatusError => unexplained("EndpointSlice informer cache is out of date")

/** Overwrites a slice with another one: nothing else of it remains, whoever has added it. */
export function inPlaceOf({ metadata }: EndpointSlice, wanted: EndpointSlice): EndpointSlice {
  const { name = "", uid = "", resourceVersion = "" } = metadata
  return { ...wanted, metadata: { ...wanted.metadata, name, uid, resourceVersion } }
}

/** What a generation counts. */
function contentOf({ metadata, endpoints, ports }: EndpointSlice): object {
  const { uid, generation, labels, deletionTimestamp } = metadata
  return { uid, generation, labels, deletionTimestamp, endpoints, ports }
}

/**
 * Enqueues a Service of which something has changed. Each round goes through all of its pods, so that of many waits for further changes,
 * as upstream's does with --endpoint-updates-batch-period.
 */
export function enqueueForRound<T extends KubeObject>(
  controller: Controller<T>,
  slices: TenantInformer<EndpointSlice>,
  tenant: string,
  { namespace = "", name }: { namespace: string | undefined; name: string },
): void {
  const known = slices.byIndex(tenant, "service", `${namespace}/${name}`)
  const pauseMs = roundPauseMs(known.reduce((sum, { endpoints }) => sum + (endpoints?.length ?? 0), 0))
  if (pauseMs === 0) controller.enqueue(tenant, namespace, name)
  else controller.enqueueAfter({ tenant, namespace, name }, pauseMs)
}

/**
 * Enqueues the Service of every changed slice of a manager, now or before the change. Owners, finalizers and annotations are no change,
 * as upstream: slices that are orphaned would be deleted before their Service is gone.
 */
export function watchSlices(
  slices: TenantInformer<EndpointSlice>,
  manager: string,
  controller: Controller<KubeObject>,
  written: SliceTracker,
): void {
  const enqueue = (tenant: string, slice: EndpointSlice): void => {
    const { labels, namespace } = slice.metadata
    const name = labels?.[serviceNameLabel]
    if (name !== undefined && isManagedBy(slice, manager))
      enqueueForRound(controller, slices, tenant, { namespace, name })
  }
  slices.subscribe({
    added: enqueue,
    updated(tenant, slice, previous) {
      if (equalIgnoringNulls(contentOf(slice), contentOf(previous))) return
      enqueue(tenant, slice)
      enqueue(tenant, previous)
    },
    deleted(tenant, slice) {
      if (isManagedBy(slice, manager)) written.gone(tenant, slice)
      enqueue(tenant, slice)
    },
    asleep: (tenant) => written.forget(tenant),
    removed: (tenant) => written.forget(tenant),
  })
}
