// Shared by Endpoints and EndpointSlices: the pods of a Service and their ports.
// Source: k8s.io/endpointslice/util, k8s.io/endpointslice/utils.go.

import type { EndpointSlice, Pod, Service } from "../../apimachinery/object.ts"
import { endpointSlices, pods as podResource, services } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { canonicalAddress, familyOf } from "../canonical-address.ts"
import type { Controller } from "../controller.ts"
import { isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { enqueueForRound } from "./slices.ts"

export const headlessLabel = "service.kubernetes.io/headless"

export interface ServicePort {
  name: string
  port: number
  protocol: string
  appProtocol?: string
}

type Selector = { [key: string]: string }

export function hasEndpoints(service: Service): boolean {
  return service.spec?.type !== "ExternalName" && service.spec?.selector !== undefined
}

export function isHeadless(service: Service): boolean {
  const address = service.spec?.clusterIP
  return address === undefined || address === "" || address === "None"
}

export function selectedPods(ctx: ControllerContext, tenant: string, service: Service): Pod[] {
  const selector = service.spec?.selector ?? {}
  return ctx.informers
    .of<Pod>(podResource)
    .list(tenant, service.metadata.namespace)
    .filter((pod) => selects(selector, pod))
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1))
}

/** Whether the pod may receive traffic now or later. */
export function canBeEndpoint(pod: Pod, includeTerminating: boolean): boolean {
  if (isFinished(pod) || addressesOf(pod).length === 0) return false
  return includeTerminating || !isTerminating(pod)
}

function addressesOf(pod: Pod): string[] {
  const all = (pod.status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip]))
  const { podIP } = pod.status ?? {}
  return all.length === 0 && podIP !== undefined && podIP !== "" ? [podIP] : all
}

/** Its addresses of that family. */
export const addressesIn = (pod: Pod, family: string): string[] =>
  addressesOf(pod)
    .flatMap((address) => canonicalAddress(address) ?? [])
    .filter((address) => familyOf(address) === family)

/**
 * Named ports are resolved in the pod; ports that the pod does not have are omitted. Pods in which they have the same numbers have the
 * same list, so that a Service with many ports and many pods has few lists.
 */
export function portsOf({ spec }: Service): (pod: Pod) => ServicePort[] {
  const ports = spec?.ports ?? []
  const named = ports.filter(({ targetPort }) => typeof targetPort === "string")
  const lists = new Map<string, ServicePort[]>()
  return (pod) => {
    const numbers = named.length === 0 ? noNumbers : namedPorts(pod)
    const found = named.map((port) => numbers.get(targetOf(port)))
    const id = found.join()
    const list = lists.get(id) ?? resolved(ports, numbers)
    lists.set(id, list)
    return list
  }
}

type OfService = NonNullable<NonNullable<Service["spec"]>["ports"]>[number]

const noNumbers: ReadonlyMap<string, number> = new Map()
const targetOf = ({ targetPort, protocol = "TCP" }: OfService): string => `${protocol} ${targetPort ?? ""}`

function resolved(ports: readonly OfService[], numbers: ReadonlyMap<string, number>): ServicePort[] {
  return ports.flatMap((of) => {
    const { name = "", port, targetPort = port, protocol = "TCP", appProtocol } = of
    const found = typeof targetPort === "number" ? targetPort : numbers.get(targetOf(of))
    if (found === undefined) return []
    return [{ name, port: found, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

/** The first container with a port of that name and protocol decides. */
function namedPorts({ spec }: Pod): Map<string, number> {
  const sidecars = (spec?.initContainers ?? []).filter((container) => container.restartPolicy === "Always")
  const numbers = new Map<string, number>()
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
    for (const { name = "", protocol = "TCP", containerPort } of ports) {
      const id = `${protocol} ${name}`
      if (!numbers.has(id)) numbers.set(id, containerPort)
    }
  }
  return numbers
}

export function hostnameOf(pod: Pod, service: Service): string | undefined {
  const { hostname, subdomain } = pod.spec ?? {}
  return hostname !== undefined && hostname !== "" && subdomain === service.metadata.name ? hostname : undefined
}

/** Enqueues the Services that select a pod, now or before its change. */
export function enqueueServices(
  ctx: ControllerContext,
  controller: Controller<Service>,
  tenant: string,
  pod: Pod,
  previous?: Pod,
): void {
  const slices = ctx.informers.of<EndpointSlice>(endpointSlices)
  for (const service of ctx.informers.of<Service>(services).list(tenant, pod.metadata.namespace)) {
    const selector = service.spec?.selector
    if (selector === undefined) continue
    if (selects(selector, pod) || (previous !== undefined && selects(selector, previous))) {
      const { namespace, name = "" } = service.metadata
      enqueueForRound(controller, slices, tenant, { namespace, name })
    }
  }
}

/** Enqueues the Services that a change of a pod affects. */
export function watchServicePods(ctx: ControllerContext, controller: Controller<Service>): void {
  const pods = ctx.informers.of<Pod>(podResource)
  const enqueue = (tenant: string, pod: Pod, previous?: Pod): void =>
    enqueueServices(ctx, controller, tenant, pod, previous)
  pods.subscribe({
    added: (tenant, pod) => enqueue(tenant, pod),
    updated(tenant, pod, previous) {
      if (!equalIgnoringNulls(relevant(pod), relevant(previous))) enqueue(tenant, pod, previous)
    },
    deleted: (tenant, pod) => enqueue(tenant, pod),
  })
}

/** The fields of a pod that appear in endpoints. */
function relevant(pod: Pod): object {
  const { labels, deletionTimestamp } = pod.metadata
  const { nodeName, hostname, subdomain } = pod.spec ?? {}
  return {
    labels,
    isTerminating: deletionTimestamp !== undefined,
    isFinished: isFinished(pod),
    isReady: isReady(pod),
    addresses: addressesOf(pod),
    nodeName,
    hostname,
    subdomain,
  }
}

function selects(selector: Selector, pod: Pod): boolean {
  const labels = pod.metadata.labels ?? {}
  for (const key in selector) if (labels[key] !== selector[key]) return false
  return true
}
