// Which addresses and ports a Service needs, by its type. Source: k8s.io/kubernetes/pkg/registry/core/service.

import type { Service } from "../../../../apimachinery/object.ts"
import { semanticEqual } from "../../validation/equality.ts"

export type ServiceSpec = NonNullable<Service["spec"]>

export function specOf(service: Service): ServiceSpec {
  service.spec ??= {}
  return service.spec
}

export function needsClusterIP(spec: ServiceSpec): boolean {
  return spec.type !== "ExternalName"
}

/** Headless without a selector: it has both families, since its endpoints may have any. */
export function isOfAnyFamily(spec: ServiceSpec): boolean {
  return spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0
}

export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === "None"
}

export function hasNodePorts(spec: ServiceSpec): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer"
}

export function needsNodePorts(spec: ServiceSpec): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && (spec.allocateLoadBalancerNodePorts ?? true))
}

export function needsHealthCheckPort(spec: ServiceSpec): boolean {
  return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local"
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return hasNodePorts(spec) || (spec.type === "ClusterIP" && (spec.externalIPs ?? []).length > 0)
}

/** Whether an update requests or releases addresses or ports. */
export function needsChanged(spec: ServiceSpec, current: ServiceSpec): boolean {
  const needs = (of: ServiceSpec): unknown => ({
    clusterIPs: of.clusterIPs,
    ipFamilies: of.ipFamilies,
    ipFamilyPolicy: of.ipFamilyPolicy,
    external: of.type === "ExternalName",
    // With PreferDualStack nothing is asked for when the selector comes or goes.
    anyFamily: isOfAnyFamily(of) && of.ipFamilyPolicy !== "PreferDualStack",
    nodePorts: needsNodePorts(of),
    ports: (of.ports ?? []).map((port) => [port.name, port.protocol, port.port, port.nodePort ?? 0]),
    healthCheck: needsHealthCheckPort(of) ? (of.healthCheckNodePort ?? 0) : -1,
  })
  return !semanticEqual(needs(spec), needs(current))
}
