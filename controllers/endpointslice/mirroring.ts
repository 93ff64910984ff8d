// Mirrors Endpoints that users created for a Service without a selector to EndpointSlices, for clients that read only these.
// Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring.

import type { Endpoints, EndpointSlice, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { endpoints as endpointsResource, endpointSlices, services } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import { staleRetryMs, WriteTracker } from "../write-tracker.ts"
import { isMirrored, managedBy, mirror, type Mirrored } from "./mirror.ts"
import { isManagedBy, watchSlices } from "./slices.ts"

export function runEndpointSliceMirroring(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Endpoints>(endpointsResource)
  const slices = ctx.informers.of<EndpointSlice>(endpointSlices)
  const owners = ctx.informers.of<Service>(services)
  const controller = new Controller<Endpoints>(ctx, {
    name: "endpoint-slice-mirroring",
    primary: all,
    reads: [slices, owners],
  })
  // By Service, as upstream: Endpoints that are made again find the slices of the former.
  const writes = new WriteTracker(ctx.clock)
  watchSlices(slices, managedBy, controller)
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
    forgotten: ({ metadata: { uid = "" } }) => writes.forget(uid),
  })
  return controller.run((key) => reconcile(ctx, controller, writes, key))
}

async function reconcile(
  ctx: ControllerContext,
  controller: Controller<Endpoints>,
  writes: WriteTracker,
  key: Key,
): Promise<ReconcileResult> {
  const { tenant, namespace, name } = key
  const informer = ctx.informers.of<EndpointSlice>(endpointSlices)
  const object = ctx.informers.of<Endpoints>(endpointsResource).get(tenant, namespace, name)
  const service = ctx.informers.of<Service>(services).get(tenant, namespace, name)
  const isWanted = object !== undefined && service !== undefined && isMirrored(object, service)
  const existing = informer
    .byIndex(tenant, "service", `${namespace}/${name}`)
    .filter((slice) => isManagedBy(slice, managedBy))
  if (!isWanted) {
    for (const slice of existing) await remove(controller, tenant, slice)
    return
  }
  const id = service.metadata.uid ?? ""
  if (!writes.isSeen(id, (slice) => informer.get(tenant, namespace, slice))) return { requeueAfterMs: staleRetryMs }
  const steps = mirror(object, existing)
  if (steps === undefined) {
    const text = "Nothing is mirrored to EndpointSlices: the ports of the subsets have too many addresses together"
    controller.event(tenant, object, "Warning", "TooManyAddressesToMirror", text)
    return
  }
  recordSkipped(controller, tenant, object, steps)
  try {
    await applySteps(controller, writes, id, tenant, object, steps)
  } catch (error) {
    if (!isNamespaceTerminating(error)) throw error
  }
}

function recordSkipped(controller: Controller<Endpoints>, tenant: string, object: Endpoints, steps: Mirrored): void {
  const { invalid, skipped, limit } = steps
  if (invalid > 0) {
    const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
    controller.event(tenant, object, "Warning", "InvalidIPAddress", text)
  }
  if (skipped > invalid) {
    const text = `A max of ${limit} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
    controller.event(tenant, object, "Warning", "TooManyAddressesToMirror", text)
  }
}

async function applySteps(
  controller: Controller<Endpoints>,
  writes: WriteTracker,
  id: string,
  tenant: string,
  object: Endpoints,
  steps: Mirrored,
): Promise<void> {
  const client = controller.client(tenant)
  if (object.metadata.deletionTimestamp === undefined) {
    for (const slice of steps.create) writes.wrote(id, await client.create<EndpointSlice>(endpointSlices, slice))
  }
  for (const slice of steps.update) writes.wrote(id, await client.update<EndpointSlice>(endpointSlices, slice))
  for (const slice of steps.delete) {
    await remove(controller, tenant, slice)
    writes.deleted(id, slice)
  }
}

async function remove(controller: Controller<Endpoints>, tenant: string, { metadata }: EndpointSlice): Promise<void> {
  const { namespace, name = "", uid } = metadata
  try {
    await controller.client(tenant).delete(endpointSlices, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
