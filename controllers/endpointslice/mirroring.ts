// Mirrors Endpoints that users created for a Service without a selector to EndpointSlices, for clients that read only these.
// Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring.

import type { Endpoints, EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { endpoints as endpointsResource, endpointSlices, services } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { staleRetryMs } from "../write-tracker.ts"
import { isMirrored, managedBy, mirror, type Mirrored } from "./mirror.ts"
import { SliceTracker } from "./slice-tracker.ts"
import { isManagedBy, outdatedCache, watchSlices } from "./slices.ts"

export function runEndpointSliceMirroring(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Endpoints>(endpointsResource)
  const slices = ctx.informers.of<EndpointSlice>(endpointSlices)
  const owners = ctx.informers.of<Service>(services)
  const controller = new Controller<Endpoints>(ctx, {
    name: "endpoint-slice-mirroring",
    primary: all,
    reads: [slices, owners],
  })
  const written = new SliceTracker(ctx.clock, (tenant) => slices.isSynced(tenant))
  watchSlices(slices, managedBy, controller, written)
  const hasSelector = ({ spec }: Service): boolean => spec?.selector !== undefined
  const enqueueService = (tenant: string, service: Service): void => {
    if (!hasSelector(service)) controller.enqueueObject(tenant, service)
  }
  owners.subscribe({
    added: enqueueService,
    updated(tenant, service, previous) {
      if (hasSelector(service) !== hasSelector(previous)) controller.enqueueObject(tenant, service)
    },
    deleted: enqueueService,
  })
  return controller.run((key, actor) => reconcile(ctx, actor, written, key))
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  written: SliceTracker,
  key: Key,
): Promise<ReconcileResult> {
  const { tenant, namespace, name } = key
  const informer = ctx.informers.of<EndpointSlice>(endpointSlices)
  const object = ctx.informers.of<Endpoints>(endpointsResource).get(tenant, namespace, name)
  const service = ctx.informers.of<Service>(services).get(tenant, namespace, name)
  const isWanted = object !== undefined && service !== undefined && isMirrored(object, service)
  const id = `${namespace}/${name}`
  const existing = informer.byIndex(tenant, "service", id).filter((slice) => isManagedBy(slice, managedBy))
  const cached = (slice: string): EndpointSlice | undefined => informer.get(tenant, namespace, slice)
  if (!isWanted) {
    const isAwaited = written.release(tenant, id, cached)
    for (const slice of existing) await remove(actor, slice)
    return isAwaited ? { requeueAfterMs: staleRetryMs } : undefined
  }
  const isWritten = written.isWritten(tenant, id, existing, cached)
  if (isWritten === "later") return { requeueAfterMs: staleRetryMs }
  if (isWritten === "no") throw outdatedCache()
  const steps = mirror(object, existing)
  if (steps === undefined) {
    const text = "Nothing is mirrored to EndpointSlices: the ports of the subsets have too many addresses together"
    actor.event(object, "Warning", "TooManyAddressesToMirror", text)
    return
  }
  recordSkipped(actor, object, steps)
  try {
    const changed = new Set([...steps.update, ...steps.delete].map(({ metadata }) => metadata.uid))
    for (const slice of existing) if (!changed.has(slice.metadata.uid)) written.found(tenant, slice)
    await applySteps(actor, written, object, steps)
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error
  }
}

function recordSkipped(actor: Actor, object: Endpoints, steps: Mirrored): void {
  const { invalid, skipped, limit } = steps
  if (invalid > 0) {
    const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    actor.event(object, "Warning", "InvalidIPAddress", text)
  }
  if (skipped > invalid) {
    const text = `A max of ${limit} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    actor.event(object, "Warning", "TooManyAddressesToMirror", text)
  }
}

async function applySteps(actor: Actor, written: SliceTracker, object: Endpoints, steps: Mirrored): Promise<void> {
  const { tenant, client } = actor
  if (object.metadata.deletionTimestamp === undefined) {
    for (const slice of steps.create) written.wrote(tenant, await client.create<EndpointSlice>(endpointSlices, slice))
  }
  for (const slice of steps.update) written.wrote(tenant, await client.update<EndpointSlice>(endpointSlices, slice))
  for (const slice of steps.delete) {
    await remove(actor, slice)
    written.deleted(tenant, slice)
  }
}

async function remove(actor: Actor, { metadata }: EndpointSlice): Promise<void> {
  const { namespace, name = "", uid } = metadata
  try {
    await actor.client.delete(endpointSlices, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
