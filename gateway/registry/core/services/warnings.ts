// What of a Service is accepted and has no effect, or will have none. Source: k8s.io/kubernetes/pkg/api/service/warnings.go.

import { isHeadless, type ServiceSpec } from "./needs.ts"

const oldHints = "service.kubernetes.io/topology-aware-hints"

export function serviceWarnings(spec: ServiceSpec, annotations: Readonly<Record<string, string>> = {}): string[] {
  const warnings: string[] = []
  const external = (spec.externalIPs ?? []).length > 0
  const headless = isHeadless(spec)
  if (Object.hasOwn(annotations, oldHints)) {
    warnings.push(`annotation ${oldHints} is deprecated, please use service.kubernetes.io/topology-mode instead`)
  }
  if (headless) {
    if (spec.loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services")
    if (external) warnings.push("spec.externalIPs is ignored for headless services")
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services")
  }
  if (external && !headless && spec.type !== "ExternalName") {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
  }
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
