// clusterIP and clusterIPs are redundant, and an update may omit values allocated on creation. Both are completed before
// validation. Source: k8s.io/kubernetes/pkg/registry/core/service/storage.

import type { Service } from "../../../../apimachinery/object.ts"
import { semanticEqual } from "../../validation/equality.ts"
import {
  isExternallyAccessible,
  needsClusterIP,
  needsHealthCheckPort,
  needsNodePorts,
  hasNodePorts,
  type ServiceSpec,
  specOf,
} from "./needs.ts"

export function normalizeClusterIPs(spec: ServiceSpec, current: ServiceSpec | undefined): void {
  const given = (spec.clusterIPs ?? []).length > 0
  if (current === undefined) {
    if (spec.clusterIP && !given) spec.clusterIPs = [spec.clusterIP]
    return
  }
  const same = semanticEqual(spec.clusterIPs, current.clusterIPs)
  if ((current.clusterIPs ?? []).length > 0 && !given && current.clusterIP === spec.clusterIP) {
    spec.clusterIPs = [...(current.clusterIPs ?? [])]
  }
  if ((current.clusterIP ?? "") === (spec.clusterIP ?? "") || !same) return
  // Only the singular field was changed: the plural one follows it.
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP]
  else delete spec.clusterIPs
}

/** Keeps allocated values that are still needed if the update does not contain them. */
export function keepAllocated(spec: ServiceSpec, current: ServiceSpec): void {
  if (needsClusterIP(current) && needsClusterIP(spec)) {
    if (!spec.clusterIP && current.clusterIP) spec.clusterIP = current.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && current.clusterIPs !== undefined)
      spec.clusterIPs = [...current.clusterIPs]
  }
  if (needsNodePorts(current) && needsNodePorts(spec)) {
    const before = new Map((current.ports ?? []).map((port) => [port.name ?? "", port.nodePort ?? 0]))
    const known = new Set(before.values())
    const used = new Set((spec.ports ?? []).map((port) => port.nodePort ?? 0).filter((port) => known.has(port)))
    for (const port of spec.ports ?? []) {
      const old = before.get(port.name ?? "") ?? 0
      if (!port.nodePort && old !== 0 && !used.has(old)) port.nodePort = old
    }
  }
  if (needsHealthCheckPort(current) && needsHealthCheckPort(spec) && !spec.healthCheckNodePort) {
    if (current.healthCheckNodePort !== undefined) spec.healthCheckNodePort = current.healthCheckNodePort
  }
}

/** Drops fields that the new type does not use, unless the update changes them; then validation rejects it. */
export function dropByType(service: Service, current: Service): void {
  const spec = specOf(service)
  const before = current.spec ?? {}
  const same = (field: keyof ServiceSpec): boolean => semanticEqual(spec[field], before[field])
  if (needsClusterIP(before) && !needsClusterIP(spec)) {
    if (same("clusterIP") && same("clusterIPs")) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (same("ipFamilies")) delete spec.ipFamilies
    if (same("ipFamilyPolicy")) delete spec.ipFamilyPolicy
  }
  if (hasNodePorts(before) && !hasNodePorts(spec)) {
    const known = new Set((before.ports ?? []).map((port) => port.nodePort ?? 0))
    if ((spec.ports ?? []).every((port) => !port.nodePort || known.has(port.nodePort))) {
      for (const port of spec.ports ?? []) delete port.nodePort
    }
  }
  if (needsHealthCheckPort(before) && !needsHealthCheckPort(spec) && same("healthCheckNodePort")) {
    delete spec.healthCheckNodePort
  }
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (same("allocateLoadBalancerNodePorts")) delete spec.allocateLoadBalancerNodePorts
    if (same("loadBalancerClass")) delete spec.loadBalancerClass
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec) && same("externalTrafficPolicy")) {
    delete spec.externalTrafficPolicy
  }
  if (spec.type !== "LoadBalancer") service.status = { ...service.status, loadBalancer: {} }
}
