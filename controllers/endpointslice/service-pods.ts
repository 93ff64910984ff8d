// Shared by Endpoints and EndpointSlices: the pods of a Service and their ports.
// Source: k8s.io/endpointslice/util, k8s.io/endpointslice/utils.go.

import { isIPv6 } from "node:net"
import type { Pod, Service } from "../../apimachinery/object.ts"
import { pods as podResource, services } from "../../client/resources.ts"
import type { Controller, ControllerContext } from "../context.ts"
import { isFinished, isReady, isTerminating } from "../pods/pod-state.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"

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

export function addressesOf(pod: Pod): string[] {
  const all = (pod.status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip]))
  const { podIP } = pod.status ?? {}
  return all.length === 0 && podIP !== undefined && podIP !== "" ? [podIP] : all
}

export const familyOf = (address: string): "IPv4" | "IPv6" => (isIPv6(address) ? "IPv6" : "IPv4")

/** Named ports are resolved in the pod; ports that the pod does not have are omitted. */
export function portsOf(service: Service, pod: Pod): ServicePort[] {
  return (service.spec?.ports ?? []).flatMap(
    ({ name = "", port, targetPort = port, protocol = "TCP", appProtocol }) => {
      const found = typeof targetPort === "number" ? targetPort : namedPort(pod, String(targetPort), protocol)
      if (found === undefined) return []
      return [{ name, port: found, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
    },
  )
}

function namedPort(pod: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (pod.spec?.initContainers ?? []).filter((container) => container.restartPolicy === "Always")
  for (const container of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const port of container.ports ?? []) {
      if (port.name === name && (port.protocol ?? "TCP") === protocol) return port.containerPort
    }
  }
  return undefined
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
  for (const service of ctx.informers.of<Service>(services).list(tenant, pod.metadata.namespace)) {
    const selector = service.spec?.selector
    if (selector === undefined) continue
    if (selects(selector, pod) || (previous !== undefined && selects(selector, previous))) {
      controller.enqueueObject(tenant, service)
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
