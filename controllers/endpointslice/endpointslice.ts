// The EndpointSlices of Services with a selector. Source: k8s.io/kubernetes/pkg/controller/endpointslice, k8s.io/endpointslice.

import { managedByLabel, serviceNameLabel } from "../../apimachinery/core/endpoint-slices.ts"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../apimachinery/object.ts"
import { endpointSlices, nodes as nodeResource, pods as podResource, services } from "../../client/resources.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { staleRetryMs } from "../write-tracker.ts"
import { familiesOf, isAuto, podsOfNoNode, wantedOf } from "./endpoints-of.ts"
import { plan, slicesWithoutPlan, type Plan } from "./plan.ts"
import { addHints, bare } from "./topology-hints.ts"
import {
  hasEndpoints,
  headlessLabel,
  isHeadless,
  selectedPods,
  enqueueServices,
  watchServicePods,
} from "./service-pods.ts"
import { SliceTracker } from "./slice-tracker.ts"
import { isManagedBy, outdatedCache, watchSlices } from "./slices.ts"
import { TriggerTimes } from "./trigger-times.ts"
import { carryOut } from "./slice-writes.ts"
import { Zones } from "./zones.ts"

const managedBy = "endpointslice-controller.k8s.io"

export function runEndpointSlices(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Service>(services)
  const pods = ctx.informers.of<Pod>(podResource)
  const slices = ctx.informers.of<EndpointSlice>(endpointSlices)
  const nodes = ctx.informers.of<Node>(nodeResource)
  const controller = new Controller<Service>(ctx, {
    name: "endpoint-slice",
    primary: all,
    reads: [pods, slices, nodes],
  })
  watchServicePods(ctx, controller)
  // Pods may arrive before their node.
  nodes.subscribe({
    added(tenant, { metadata }) {
      for (const pod of pods.byIndex(tenant, "node", metadata.name ?? "")) enqueueServices(ctx, controller, tenant, pod)
    },
  })
  const zones = new Zones(ctx, (tenant, uids) => {
    for (const service of all.list(tenant)) {
      if (uids.has(service.metadata.uid ?? "")) controller.enqueueObject(tenant, service)
    }
  })
  const triggers = new TriggerTimes(all)
  const written = new SliceTracker(ctx.clock, (tenant) => slices.isSynced(tenant))
  watchSlices(slices, managedBy, controller, written)
  all.subscribe({ deleted: (tenant, { metadata: { uid = "" } }) => zones.forget(tenant, uid) })
  return controller.run((key, actor) => reconcile(ctx, actor, { written, zones, triggers }, key))
}

/** State kept between syncs. */
interface Memory {
  written: SliceTracker
  zones: Zones
  triggers: TriggerTimes
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  { written, zones, triggers }: Memory,
  key: Key,
): Promise<ReconcileResult> {
  const { tenant } = key
  const service = ctx.informers.of<Service>(services).get(tenant, key.namespace, key.name)
  const informer = ctx.informers.of<EndpointSlice>(endpointSlices)
  const id = `${key.namespace}/${key.name}`
  const cached = (name: string): EndpointSlice | undefined => informer.get(tenant, key.namespace, name)
  // The garbage collector deletes the slices of a deleted Service.
  if (service === undefined) return written.release(tenant, id, cached) ? { requeueAfterMs: staleRetryMs } : undefined
  if (!hasEndpoints(service)) return
  const uid = service.metadata.uid ?? ""
  const labelled = informer
    .byIndex(tenant, "service", id)
    .filter((slice) => isManagedBy(slice, managedBy) && slice.metadata.deletionTimestamp === undefined)
  const isWritten = written.isWritten(tenant, id, labelled, cached)
  if (isWritten === "later") return { requeueAfterMs: staleRetryMs }
  if (isWritten === "no") throw outdatedCache()
  const existing = labelled.filter((slice) => isOwnedBy(slice, service))
  const foreign = labelled.filter((slice) => !isOwnedBy(slice, service))
  const pods = selectedPods(ctx, tenant, service)
  const trigger = triggers.next(tenant, service, pods)
  const auto = isAuto(service)
  // The existing hints are evaluated after everything else is planned.
  const stripped = new Map(existing.map((slice) => [auto ? withoutHints(slice) : slice, slice]))
  const labels = labelsOf(service)
  const isOutdated = (slice: EndpointSlice): boolean => !equalIgnoringNulls(slice.metadata.labels, labels)
  const wanted = wantedOf(ctx, tenant, service, pods)
  const steps = plan(familiesOf(service), wanted, { owned: [...stripped.keys()], foreign }, isOutdated)
  if (auto || zones.isHinted(tenant, uid)) hint(zones, actor, service, stripped, steps)
  const failed = (why: string): void => {
    const text = `Error updating Endpoint Slices for Service ${id}: ${why}`
    actor.event(service, "Warning", "FailedToUpdateEndpointSlices", text)
  }
  try {
    await carryOut({ tenant, client: actor.client, written, service, labels, trigger }, steps)
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    failed(errorMessage(error))
    throw error
  }
  const nowhere = podsOfNoNode(ctx, tenant, service, pods).map(
    ({ metadata: { name = "" }, spec }) =>
      `skipping Pod ${name} for Service ${id}: Node ${spec?.nodeName ?? ""} Not Found`,
  )
  if (nowhere.length > 0) failed(nowhere.length === 1 ? (nowhere[0] ?? "") : `[${nowhere.join(", ")}]`)
}

const isOwnedBy = ({ metadata }: EndpointSlice, service: Service): boolean =>
  (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === "Service" && apiVersion === "v1",
  )

const withoutHints = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  endpoints: (slice.endpoints ?? []).map(bare),
})

/** Plans the hints of topology mode, and records Events when hints are enabled or disabled. */
function hint(
  zones: Zones,
  actor: Actor,
  service: Service,
  stripped: ReadonlyMap<EndpointSlice, EndpointSlice>,
  steps: Plan,
): void {
  const { tenant } = actor
  const uid = service.metadata.uid ?? ""
  const auto = isAuto(service)
  for (const family of familiesOf(service)) {
    const recordHints = (isOn: boolean, text: string): void => {
      const reason = isOn ? "TopologyAwareHintsEnabled" : "TopologyAwareHintsDisabled"
      actor.event(service, isOn ? "Normal" : "Warning", reason, `${text}, addressType: ${family}`)
    }
    if (!auto) {
      recordHints(false, "Topology Aware Hints has been disabled")
      continue
    }
    const written = [
      ...steps.create.filter(({ addressType }) => addressType === family),
      ...steps.update.filter(({ slice }) => slice.addressType === family),
    ].map(({ endpoints }) => endpoints)
    const unplanned = slicesWithoutPlan([...stripped.keys()], steps).filter(({ addressType }) => addressType === family)
    const kept = new Map(unplanned.map((slice) => [stripped.get(slice) ?? slice, slice]))
    const { also, refusal, counts } = addHints(zones.shares(tenant), {
      written,
      kept: [...kept.keys()],
    })
    for (const { slice: stored, endpoints } of also) {
      // No better hints exist, for example if all hints name a deleted zone. Writing the slice would only cause another sync.
      if (equalIgnoringNulls(endpoints, stored.endpoints)) continue
      steps.update.push({ slice: kept.get(stored) ?? stored, endpoints })
    }
    if (refusal !== undefined) {
      zones.forget(tenant, uid)
      recordHints(false, refusal)
      continue
    }
    if (!zones.isHinted(tenant, uid)) recordHints(true, "Topology Aware Hints has been enabled")
    zones.hint(tenant, uid, family, counts)
  }
  if (!auto) zones.forget(tenant, uid)
}

function labelsOf(service: Service): Record<string, string> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {}
  return {
    ...labels,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
    [serviceNameLabel]: service.metadata.name ?? "",
    [managedByLabel]: managedBy,
  }
}
