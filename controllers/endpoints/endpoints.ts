// The Endpoints of Services with a selector. Source: k8s.io/kubernetes/pkg/controller/endpoint.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Endpoints, Pod, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { endpoints as endpointsResource, pods as podResource, services } from "../../client/resources.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { type ReconcileResult, TerminalError } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import { canonicalAddress, familyOf } from "../canonical-address.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import {
  addressesIn,
  canBeEndpoint,
  hasEndpoints,
  headlessLabel,
  hostnameOf,
  isHeadless,
  portsOf,
  selectedPods,
  watchServicePods,
  type ServicePort,
} from "../endpointslice/service-pods.ts"
import { repack, type Address, type Subset } from "../endpointslice/repack.ts"
import { TriggerTimes, triggerTimeAnnotation } from "../endpointslice/trigger-times.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { isReady } from "../pods/pod-state.ts"
import { staleRetryMs, WriteTracker } from "../write-tracker.ts"

const managedByLabel = "endpoints.kubernetes.io/managed-by"
const managedBy = "endpoint-controller"
const overCapacityAnnotation = "endpoints.kubernetes.io/over-capacity"
/** Maximum number of addresses in an object. Ready addresses take precedence. */
const maxAddresses = 1000

export function runEndpoints(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Service>(services)
  const pods = ctx.informers.of<Pod>(podResource)
  const own = ctx.informers.of<Endpoints>(endpointsResource)
  const controller = new Controller<Service>(ctx, {
    name: "endpoint",
    primary: all,
    reads: [pods, own],
    // Those of this controller without a Service remain if it was deleted while the controller was not running.
    others: (tenant) =>
      own
        .list(tenant)
        .filter(({ metadata }) => metadata.labels?.[managedByLabel] === managedBy)
        .map(({ metadata: { namespace = "", name = "" } }) => ({ namespace, name })),
  })
  watchServicePods(ctx, controller)
  const triggers = new TriggerTimes(all)
  const waiting = new Set<string>()
  const written = new WriteTracker(ctx.clock, (uid) => waiting.add(uid))
  all.subscribe({
    forgotten({ metadata: { uid = "" } }) {
      written.forget(uid)
      waiting.delete(uid)
    },
  })
  own.subscribe({
    updated(tenant, object) {
      const { namespace, name } = object.metadata
      const { uid = "" } = all.get(tenant, namespace, name ?? "")?.metadata ?? {}
      if (waiting.delete(uid)) controller.enqueueObject(tenant, object)
    },
    // Users may create Endpoints before their Service, so those without a Service are ignored.
    deleted(tenant, object) {
      const { namespace, name = "" } = object.metadata
      if (all.get(tenant, namespace, name) !== undefined) controller.enqueueObject(tenant, object)
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, { triggers, written, waiting }, key))
}

/** State kept between syncs. */
interface Memory {
  triggers: TriggerTimes
  /** By uid of the Service. */
  written: WriteTracker
  /** Uids of Services that are reconciled when their Endpoints change: the last write is not seen in time, or it failed and may have been done. */
  waiting: Set<string>
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  { triggers, written, waiting }: Memory,
  key: Key,
): Promise<ReconcileResult> {
  const client = actor.client
  const found = (): Service | undefined => ctx.informers.of<Service>(services).get(key.tenant, key.namespace, key.name)
  const service = found()
  const own = ctx.informers.of<Endpoints>(endpointsResource)
  const current = own.get(key.tenant, key.namespace, key.name)
  if (service === undefined) {
    if (current === undefined) return
    const { uid } = current.metadata
    await client
      .delete(endpointsResource, key.namespace, key.name, uid === undefined ? {} : { uid })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    return
  }
  if (!hasEndpoints(service)) return
  const { uid = "" } = service.metadata
  // Compared with an outdated state, what is wanted again could be taken for what is there, and nothing would enqueue the Service.
  if (!written.isSeen(uid, () => current)) {
    waiting.add(uid)
    return { requeueAfterMs: staleRetryMs }
  }
  const pods = selectedPods(ctx, key.tenant, service)
  const trigger = triggers.next(key.tenant, service, pods)
  const all = subsetsOf(service, pods)
  if (all === undefined) throw new TerminalError("the ports of the Service have too many addresses together")
  const wanted = wantedEndpoints(service, truncate(all), trigger, current)
  if (wanted === undefined) return
  // Of a Service that was deleted meanwhile nothing would be forgotten any more.
  const isThere = (): boolean => found()?.metadata.uid === uid
  // If an earlier write was done that is not seen yet, this one is a conflict.
  waiting.delete(uid)
  try {
    const updated = await write(actor, wanted, current)
    if (updated !== undefined && isThere()) written.changed(uid, updated)
  } catch (error) {
    if (isThere()) waiting.add(uid)
    throw error
  }
}

/** Undefined: no change. */
function wantedEndpoints(
  service: Service,
  { subsets, truncated }: Truncated,
  trigger: string | undefined,
  current: Endpoints | undefined,
): Endpoints | undefined {
  const { [headlessLabel]: ownHeadless, ...serviceLabels } = service.metadata.labels ?? {}
  const labels = {
    ...serviceLabels,
    [managedByLabel]: managedBy,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
  }
  const {
    [triggerTimeAnnotation]: _,
    [overCapacityAnnotation]: wasTruncated,
    ...others
  } = current?.metadata.annotations ?? {}
  const before = current?.subsets ?? []
  // Upstream writes the same content in another order.
  const isSame =
    (equalIgnoringNulls(before, subsets) || equalIgnoringNulls(repack(before, { areRead: true }), subsets)) &&
    (ownHeadless === undefined
      ? equalIgnoringNulls(withoutHeadless(current?.metadata.labels), withoutHeadless(labels))
      : equalIgnoringNulls(current?.metadata.labels, labels))
  const overCapacity = truncated ? "truncated" : undefined
  if (current !== undefined && isSame && wasTruncated === overCapacity) return undefined
  const annotations = {
    ...others,
    ...(trigger === undefined ? {} : { [triggerTimeAnnotation]: trigger }),
    ...(overCapacity === undefined ? {} : { [overCapacityAnnotation]: overCapacity }),
  }
  const { namespace = "", name = "" } = service.metadata
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    ...current,
    metadata: { ...(current?.metadata ?? { namespace, name }), labels, annotations },
    subsets,
  }
}

/** Returns what has replaced an object. */
async function write(actor: Actor, object: Endpoints, current: Endpoints | undefined): Promise<Endpoints | undefined> {
  const client = actor.client
  try {
    if (current !== undefined) return await client.update<Endpoints>(endpointsResource, object)
    await client.create(endpointsResource, object)
    return undefined
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    const [reason, verb] =
      current === undefined
        ? ["FailedToCreateEndpoint", "create endpoint for service"]
        : ["FailedToUpdateEndpoint", "update endpoint"]
    const { namespace, ...metadata } = object.metadata
    const text = `Failed to ${verb} ${namespace ?? ""}/${object.metadata.name ?? ""}: ${errorMessage(error)}`
    // As upstream, an object that was not created has no namespace, so its events are in the default namespace.
    actor.event(current === undefined ? { ...object, metadata } : object, "Warning", reason, text)
    throw error
  }
}

/** undefined: see {@link repack}. */
function subsetsOf(service: Service, pods: readonly Pod[]): Subset[] | undefined {
  const publishAll = service.spec?.publishNotReadyAddresses === true
  const isPortless = (service.spec?.ports ?? []).length === 0 && service.spec?.clusterIP === "None"
  const portsIn = portsOf(service)
  const ofPorts = new Map<ServicePort[], { addresses: Address[]; notReadyAddresses: Address[] }>()
  for (const pod of pods) {
    const address = canBeEndpoint(pod, publishAll) ? addressOf(service, pod) : undefined
    const ports = portsIn(pod)
    if (address === undefined || (ports.length === 0 && !isPortless)) continue
    const subset = ofPorts.get(ports) ?? { addresses: [], notReadyAddresses: [] }
    ofPorts.set(ports, subset)
    const isAnswering = publishAll || isReady(pod)
    subset[isAnswering ? "addresses" : "notReadyAddresses"].push(address)
  }
  return repack(
    [...ofPorts].map(([ports, subset]) => ({
      ...subset,
      ports: ports.map(({ name, ...port }) => (name === "" ? port : { name, ...port })),
    })),
  )
}

function addressOf(service: Service, pod: Pod): Address | undefined {
  const { ipFamilies = [], clusterIP = "" } = service.spec ?? {}
  const own = clusterIP === "" || clusterIP === "None" ? (pod.status?.podIP ?? "") : clusterIP
  const family = ipFamilies[0] ?? familyOf(canonicalAddress(own))
  const [ip] = addressesIn(pod, family)
  if (ip === undefined) return undefined
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const hostname = hostnameOf(pod, service)
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    nodeName: pod.spec?.nodeName ?? "",
    targetRef: { kind: "Pod", namespace, name, uid },
  }
}

interface Truncated {
  subsets: Subset[]
  truncated: boolean
}

/** Truncates all subsets in proportion, not ready addresses first. */
function truncate(subsets: Subset[]): Truncated {
  const sum = (list: "addresses" | "notReadyAddresses"): number =>
    subsets.reduce((count, subset) => count + (subset[list]?.length ?? 0), 0)
  const ready = sum("addresses")
  const notReady = sum("notReadyAddresses")
  if (ready + notReady <= maxAddresses) return { subsets, truncated: false }
  const isReadyTruncated = ready > maxAddresses
  const [all, room] = isReadyTruncated ? [ready, maxAddresses] : [notReady, maxAddresses - ready]
  let left = room
  const take = (list: Address[] = []): Address[] => {
    const taken = list.slice(0, Math.min(Math.ceil((list.length / all) * room), left))
    left -= taken.length
    return taken
  }
  const cut = subsets.map(({ ports, ...subset }): Subset => {
    const addresses = isReadyTruncated ? take(subset.addresses) : (subset.addresses ?? [])
    const notReadyAddresses = isReadyTruncated ? [] : take(subset.notReadyAddresses)
    return {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
      ...(ports === undefined ? {} : { ports }),
    }
  })
  const isSomething = ({ addresses, notReadyAddresses }: Subset): boolean =>
    addresses !== undefined || notReadyAddresses !== undefined
  return { subsets: cut.filter(isSomething), truncated: true }
}

/** If the Service does not have this label, a difference in it alone causes no update, as upstream. */
function withoutHeadless(labels: Record<string, string> = {}): Record<string, string> {
  const { [headlessLabel]: _, ...others } = labels
  return others
}
