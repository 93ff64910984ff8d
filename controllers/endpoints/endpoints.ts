// The Endpoints of Services with a selector. Facts: k8s.io/kubernetes/pkg/controller/endpoint.

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Endpoints, Pod, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { endpoints as endpointsResource, pods as podResource, services } from "../../client/resources.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { Controller, type ControllerContext, type Key } from "../context.ts"
import {
  addressesOf,
  canBeEndpoint,
  familyOf,
  hasEndpoints,
  headlessLabel,
  hostnameOf,
  isHeadless,
  portsOf,
  selectedPods,
  triggerTime,
  triggerTimeAnnotation,
  watchServicePods,
} from "../endpointslice/service-pods.ts"
import { equalButNulls } from "../../apimachinery/equality.ts"
import { isReady } from "../pods/pod-state.ts"

const managedByLabel = "endpoints.kubernetes.io/managed-by"
const managedBy = "endpoint-controller"
const overCapacityAnnotation = "endpoints.kubernetes.io/over-capacity"
/** More do not fit into one object. Ready ones are kept first. */
const maxAddresses = 1000

type Subset = NonNullable<Endpoints["subsets"]>[number]
type Address = NonNullable<Subset["addresses"]>[number]

export function runEndpoints(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<Service>(services)
  const pods = ctx.informers.of<Pod>(podResource)
  const own = ctx.informers.of<Endpoints>(endpointsResource)
  const controller = new Controller<Service>(ctx, { name: "endpoint", primary: all, reads: [pods, own] })
  watchServicePods(ctx, controller)
  own.subscribe({
    deleted: (tenant, object) => controller.enqueueObject(tenant, object),
    // Those without a Service are left from when nobody looked.
    synced: (tenant) => {
      for (const object of own.list(tenant)) controller.enqueueObject(tenant, object)
    },
  })
  return controller.run((key) => reconcile(ctx, controller, key))
}

async function reconcile(ctx: ControllerContext, controller: Controller<Service>, key: Key): Promise<void> {
  const client = controller.client(key.tenant)
  const service = ctx.informers.of<Service>(services).get(key.tenant, key.namespace, key.name)
  const current = ctx.informers.of<Endpoints>(endpointsResource).get(key.tenant, key.namespace, key.name)
  if (service === undefined) {
    // Only what this controller made: others (the API server's own, leader election) have Endpoints without a Service.
    if (current?.metadata.labels?.[managedByLabel] !== managedBy) return
    const { uid } = current.metadata
    await client
      .delete(endpointsResource, key.namespace, key.name, uid === undefined ? {} : { uid })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    return
  }
  if (!hasEndpoints(service) || service.metadata.deletionTimestamp !== undefined) return
  const pods = selectedPods(ctx, key.tenant, service)
  const { subsets, truncated } = truncate(subsetsOf(service, pods))
  const { [headlessLabel]: _, ...serviceLabels } = service.metadata.labels ?? {}
  const labels = {
    ...serviceLabels,
    [managedByLabel]: managedBy,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
  }
  const {
    [triggerTimeAnnotation]: before,
    [overCapacityAnnotation]: wasTruncated,
    ...others
  } = current?.metadata.annotations ?? {}
  const isSame = equalButNulls(current?.subsets ?? [], subsets) && equalButNulls(current?.metadata.labels, labels)
  if (current !== undefined && isSame && (wasTruncated === "truncated") === truncated) return
  const trigger = triggerTime(service, pods, before)
  const annotations = {
    ...others,
    ...(trigger === undefined ? {} : { [triggerTimeAnnotation]: trigger }),
    ...(truncated ? { [overCapacityAnnotation]: "truncated" } : {}),
  }
  const object: Endpoints = {
    apiVersion: "v1",
    kind: "Endpoints",
    ...current,
    metadata: { ...(current?.metadata ?? { namespace: key.namespace, name: key.name }), labels, annotations },
    subsets,
  }
  try {
    if (current === undefined) await client.create(endpointsResource, object)
    else await client.update(endpointsResource, object)
  } catch (error) {
    if (isNamespaceTerminating(error)) return
    const [reason, verb, name] =
      current === undefined
        ? ["FailedToCreateEndpoint", "create endpoint for service", `${key.namespace}/${key.name}`]
        : ["FailedToUpdateEndpoint", "update endpoint", `${key.namespace}/${key.name}`]
    controller.event(key.tenant, service, "Warning", reason, `Failed to ${verb} ${name}: ${errorMessage(error)}`)
    throw error
  }
}

/** One subset for all pods that answer on the same ports. */
function subsetsOf(service: Service, pods: readonly Pod[]): Subset[] {
  const publishAll = service.spec?.publishNotReadyAddresses === true
  const family = service.spec?.ipFamilies?.[0] ?? "IPv4"
  const groups = new Map<string, Subset>()
  for (const pod of pods) {
    if (!canBeEndpoint(pod, publishAll)) continue
    const address = addressOf(service, pod, family)
    const ports = portsOf(service, pod)
    const isPortless = (service.spec?.ports ?? []).length === 0 && service.spec?.clusterIP === "None"
    if (address === undefined || (ports.length === 0 && !isPortless)) continue
    const id = JSON.stringify(ports)
    const subset: Subset = groups.get(id) ?? {
      ports: ports.map(({ name, ...port }) => (name === "" ? port : { name, ...port })),
    }
    groups.set(id, subset)
    const list = publishAll || isReady(pod) ? "addresses" : "notReadyAddresses"
    subset[list] = [...(subset[list] ?? []), address]
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, subset]) => sorted(subset))
}

function sorted({ addresses, notReadyAddresses, ports }: Subset): Subset {
  const byAddress = (a: Address, b: Address): number => (a.ip < b.ip ? -1 : 1)
  return {
    ...(addresses === undefined ? {} : { addresses: [...addresses].sort(byAddress) }),
    ...(notReadyAddresses === undefined ? {} : { notReadyAddresses: [...notReadyAddresses].sort(byAddress) }),
    ...(ports === undefined || ports.length === 0 ? {} : { ports }),
  }
}

function addressOf(service: Service, pod: Pod, family: string): Address | undefined {
  const ip = addressesOf(pod).find((address) => familyOf(address) === family)
  if (ip === undefined) return undefined
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const hostname = hostnameOf(pod, service)
  const nodeName = pod.spec?.nodeName
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  }
}

function truncate(subsets: Subset[]): { subsets: Subset[]; truncated: boolean } {
  const count = (list: Address[] | undefined): number => list?.length ?? 0
  const all = subsets.reduce((sum, subset) => sum + count(subset.addresses) + count(subset.notReadyAddresses), 0)
  if (all <= maxAddresses) return { subsets, truncated: false }
  let room = maxAddresses
  const take = (list: Address[] | undefined): Address[] => {
    const taken = (list ?? []).slice(0, room)
    room -= taken.length
    return taken
  }
  const ready = subsets.map((subset) => take(subset.addresses))
  const cut = subsets.map((subset, index) => {
    const notReadyAddresses = take(subset.notReadyAddresses)
    const addresses = ready[index] ?? []
    return {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
      ...(subset.ports === undefined ? {} : { ports: subset.ports }),
    }
  })
  return {
    subsets: cut.filter((subset) => count(subset.addresses) + count(subset.notReadyAddresses) > 0),
    truncated: true,
  }
}
