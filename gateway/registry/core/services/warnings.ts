// Warnings about fields of a Service that have no effect, or will have none. Source: k8s.io/kubernetes/pkg/api/service/warnings.go.

import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import { addressWarnings, networkWarnings } from "../../validation/addresses.ts"
import { isHeadless, type ServiceSpec } from "./needs.ts"

const path = FieldPath.root("spec")
/** Annotations; the first is the older name of the second. */
export const topologyHints = "service.kubernetes.io/topology-aware-hints"
export const topologyMode = "service.kubernetes.io/topology-mode"

export function serviceWarnings(spec: ServiceSpec, annotations: Readonly<Record<string, string>> = {}): string[] {
  const warnings: string[] = []
  const external = (spec.externalIPs ?? []).length > 0
  const headless = isHeadless(spec)
  if (Object.hasOwn(annotations, topologyHints)) {
    warnings.push(`annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`)
  }
  if (spec.clusterIP && spec.clusterIP !== "None") warnings.push(...warningsOf("clusterIPs", spec.clusterIPs))
  if (headless) {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services")
    if (external) warnings.push("spec.externalIPs is ignored for headless services")
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services")
  }
  warnings.push(...warningsOf("externalIPs", spec.externalIPs))
  if (external && !headless && spec.type !== "ExternalName") {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
  }
  if (spec.loadBalancerIP) warnings.push(...addressWarnings(path.child("loadBalancerIP"), spec.loadBalancerIP))
  for (const [index, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    warnings.push(...networkWarnings(path.child("loadBalancerSourceRanges").index(index), range))
  if (spec.type === "ExternalName" && external) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  }
  if (spec.type !== "ExternalName" && spec.externalName) {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  }
  if (spec.trafficDistribution === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  }
  return warnings
}

function warningsOf(field: string, addresses: readonly string[] = []): string[] {
  return addresses.flatMap((address, index) => addressWarnings(path.child(field).index(index), address))
}

/** Warnings about the status of a load balancer, also that of an Ingress. */
export function loadBalancerWarnings(ingresses: readonly { ip?: string }[] = []): string[] {
  const at = FieldPath.root("status", "loadBalancer", "ingress")
  return ingresses.flatMap(({ ip }, index) => (ip ? addressWarnings(at.index(index), ip) : []))
}
