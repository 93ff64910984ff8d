// Sets ServiceCIDRs ready, and protects them from deletion while an address in use would be left without a range. The initial one
// shows the range of the super cluster's Services; it is ready from the start and not modified.
// Source: k8s.io/kubernetes/pkg/controller/servicecidrs.

import { timestamp, type IPAddress, type ServiceCIDR } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { ipAddresses, serviceCIDRs } from "../../client/resources.ts"
import { bornVersion } from "../../client/tenants.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { findCondition } from "../conditions.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { hasItsLabels, isManaged } from "./ip-addresses.ts"
import { contains, gives, overlaps, parseRange, rangeOf, type Range } from "./ranges.ts"

const finalizer = "networking.k8s.io/service-cidr-finalizer"
const source = "service-cidr-controller"
/** Time for allocators to observe the deletion. */
const graceMs = 10_000
const ready = { status: "True", reason: "", message: "Kubernetes Service CIDR is ready" }
const inUse = {
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
}

function rangesOf({ spec }: ServiceCIDR): Range[] {
  return (spec?.cidrs ?? []).flatMap((cidr) => parseRange(cidr) ?? [])
}

export function runServiceCIDRs(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<ServiceCIDR>(serviceCIDRs)
  const addresses = ctx.informers.of<IPAddress>(ipAddresses)
  const controller = new Controller<ServiceCIDR>(ctx, {
    name: "service-cidr",
    eventSource: source,
    primary: all,
    concerns: ({ metadata }) => metadata.resourceVersion !== bornVersion,
    reads: [addresses],
  })
  const enqueue = (tenant: string, concerned: (range: Range) => boolean): void => {
    for (const cidr of all.list(tenant)) {
      if (cidr.metadata.deletionTimestamp !== undefined && rangesOf(cidr).some(concerned)) {
        controller.enqueueObject(tenant, cidr)
      }
    }
  }
  all.subscribe({
    added: (tenant, cidr) => enqueue(tenant, (range) => rangesOf(cidr).some((other) => overlaps(other, range))),
  })
  const changed = (tenant: string, object: IPAddress): void => {
    const address = rangeOf(object.metadata.name ?? "")
    if (address !== undefined && isManaged(object)) enqueue(tenant, (range) => gives(range, address))
  }
  addresses.subscribe({ added: changed, deleted: changed })
  return controller.run((key, actor) => reconcile(ctx, actor, key))
}

async function reconcile(ctx: ControllerContext, actor: Actor, { tenant, name }: Key): Promise<ReconcileResult> {
  const cidr = ctx.informers.of<ServiceCIDR>(serviceCIDRs).get(tenant, undefined, name)
  if (cidr === undefined || cidr.metadata.resourceVersion === bornVersion) return
  const { deletionTimestamp, finalizers = [] } = cidr.metadata
  // Of finalizers of others nothing is said, so that their changes do not matter.
  const change = async (fields: object): Promise<void> => {
    const patch = { metadata: { uid: cidr.metadata.uid, ...fields } }
    try {
      await actor.client.patch(serviceCIDRs, undefined, name, patch, { type: "strategic" })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
  if (deletionTimestamp === undefined) {
    if (!finalizers.includes(finalizer)) await change({ finalizers: [finalizer] })
    return report(ctx, actor, cidr, ready)
  }
  if (leavesOrphans(ctx, tenant, cidr)) return report(ctx, actor, cidr, inUse)
  const wait = Date.parse(deletionTimestamp) + graceMs - ctx.clock.now()
  if (wait > 0) return { requeueAfterMs: wait }
  if (finalizers.includes(finalizer)) await change({ "$deleteFromPrimitiveList/finalizers": [finalizer] })
}

/** Whether an address is in no other range. False if other ranges contain all of this one. */
function leavesOrphans(ctx: ControllerContext, tenant: string, cidr: ServiceCIDR): boolean {
  const others = ctx.informers
    .of<ServiceCIDR>(serviceCIDRs)
    .list(tenant)
    .filter((other) => other !== cidr)
    .flatMap(rangesOf)
  const ownRanges = rangesOf(cidr)
  if (ownRanges.every((range) => others.some((other) => contains(other, range)))) return false
  return ctx.informers
    .of<IPAddress>(ipAddresses)
    .list(tenant)
    .some((object) => {
      const address = rangeOf(object.metadata.name ?? "")
      if (address === undefined || !hasItsLabels(object)) return false
      const isIn = (range: Range): boolean => gives(range, address)
      return ownRanges.some(isIn) && !others.some(isIn)
    })
}

async function report(
  ctx: ControllerContext,
  actor: Actor,
  { metadata, status }: ServiceCIDR,
  wanted: typeof ready,
): Promise<void> {
  const { name = "" } = metadata
  const now = findCondition(status?.conditions, "Ready")
  if (now?.status === wanted.status && now.reason === wanted.reason && now.message === wanted.message) return
  const condition = { type: "Ready", ...wanted, lastTransitionTime: timestamp(new Date(ctx.clock.now())) }
  // Applied, so that conditions of other managers remain.
  const apiVersion = "networking.k8s.io/v1"
  const applied = { apiVersion, kind: "ServiceCIDR", metadata: { name }, status: { conditions: [condition] } }
  const options = { type: "apply" as const, subresource: "status", fieldManager: source, force: true }
  try {
    await actor.client.patch(serviceCIDRs, undefined, name, applied, options)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
