// Services. Source: k8s.io/kubernetes/pkg/apis/core/validation. Addresses are validated in cluster-ips.ts, and the availability of
// addresses and ports by the allocator (ServiceAddresses).

import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupportedText,
  required,
} from "../../../../apimachinery/field-errors.ts"
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateQualifiedName,
} from "../../../../apimachinery/names.ts"
import { legacyAddress, reachableAddress } from "../../validation/addresses.ts"
import { validateLabels } from "../../validation/selectors.ts"
import {
  inclusiveRange,
  messages,
  oneOf,
  optionalOneOf,
  portNumber,
  portNumberOrName,
} from "../../validation/values.ts"
import type { Service } from "../../../../apimachinery/object.ts"
import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import { validateClusterIPs } from "./cluster-ips.ts"
import { validateLoadBalancer } from "./load-balancer.ts"
import { topologyHints, topologyMode } from "./warnings.ts"
import { isExternallyAccessible, isHeadless, needsHealthCheckPort, type ServiceSpec, specOf } from "./needs.ts"

const path = FieldPath.root("spec")
const protocols = ["SCTP", "TCP", "UDP"]
const maxAffinitySeconds = 86_400

/** `current`: the service that is updated. */
export function validateService(service: Service, current: Service | undefined): FieldError[] {
  const spec = specOf(service)
  return [
    ...(current === undefined ? [] : validateServiceUpdate(spec, current.spec ?? {})),
    ...validateServiceSpec(service, current),
  ]
}

/** Two annotations with the same meaning. */
function validateTopologyMode({ metadata: { annotations } }: Service): FieldError[] {
  const [mode, hints] = [ownValue(annotations, topologyMode), ownValue(annotations, topologyHints)]
  if (mode === undefined || hints === undefined || mode === hints) return []
  const at = FieldPath.root("metadata", "annotations").key(topologyMode)
  return [invalidValue(at, mode, `must match annotations[${topologyHints}] when both are specified`)]
}

function validateServiceSpec(service: Service, current: Service | undefined): FieldError[] {
  const spec = specOf(service)
  const errors = validateTopologyMode(service)
  const ports = spec.ports ?? []
  if (ports.length === 0 && !isHeadless(spec) && spec.type !== "ExternalName")
    errors.push(required(path.child("ports")))
  errors.push(...validateByType(spec))
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    errors.push(...validatePort(path.child("ports").index(index), port, ports.length > 1, names))
  }
  errors.push(...validateLabels(path.child("selector"), spec.selector))
  errors.push(...oneOf(path.child("sessionAffinity"), spec.sessionAffinity, ["ClientIP", "None"]))
  errors.push(...validateAffinity(spec), ...validateClusterIPs(spec, new Set(current?.spec?.clusterIPs)))
  const kept = new Set(current?.spec?.externalIPs)
  for (const [index, address] of (spec.externalIPs ?? []).entries()) {
    const at = path.child("externalIPs").index(index)
    const faults = legacyAddress(at, address, kept)
    errors.push(...(faults.length > 0 ? faults : reachableAddress(at, address)))
  }
  errors.push(...oneOf(path.child("type"), spec.type, ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]))
  return [
    ...errors,
    ...validatePortsTogether(spec),
    ...validateLoadBalancer(service, current),
    ...validateTraffic(spec),
  ]
}

function validateByType(spec: ServiceSpec): FieldError[] {
  const { type } = spec
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec)) {
    return [invalidValue(path.child("clusterIPs").index(0), "None", `may not be set to 'None' for ${type} services`)]
  }
  if (type !== "ExternalName") return []
  const errors: FieldError[] = []
  for (const field of ["clusterIPs", "ipFamilies"] as const) {
    if ((spec[field] ?? []).length > 0) {
      errors.push(forbiddenField(path.child(field), "may not be set for ExternalName services"))
    }
  }
  if (spec.ipFamilyPolicy !== undefined) {
    errors.push(forbiddenField(path.child("ipFamilyPolicy"), "may not be set for ExternalName services"))
  }
  const name = (spec.externalName ?? "").replace(/\.$/, "")
  const at = path.child("externalName")
  return [...errors, ...(name === "" ? [required(at)] : messages(at, name, validateDNS1123Subdomain(name)))]
}

type Port = NonNullable<ServiceSpec["ports"]>[number]

function validatePort(at: FieldPath, port: Port, named: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = []
  if (port.name) {
    errors.push(...messages(at.child("name"), port.name, validateDNS1123Label(port.name)))
    if (names.has(port.name)) errors.push(duplicate(at.child("name"), port.name))
    names.add(port.name)
  } else if (named) errors.push(required(at.child("name")))
  errors.push(...portNumber(at.child("port"), port.port ?? 0))
  errors.push(...oneOf(at.child("protocol"), port.protocol, protocols))
  errors.push(...portNumberOrName(at.child("targetPort"), port.targetPort))
  if (port.appProtocol !== undefined) {
    errors.push(...messages(at.child("appProtocol"), port.appProtocol, validateQualifiedName(port.appProtocol)))
  }
  return errors
}

function validatePortsTogether(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  const nodePorts = new Set<string>()
  const ports = new Set<string>()
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const at = path.child("ports").index(index)
    if (spec.type === "ClusterIP" && port.nodePort) {
      errors.push(forbiddenField(at.child("nodePort"), "may not be used when `type` is 'ClusterIP'"))
    }
    const nodePort = `${port.protocol}/${port.nodePort}`
    if (port.nodePort && nodePorts.has(nodePort)) errors.push(duplicate(at.child("nodePort"), port.nodePort))
    nodePorts.add(nodePort)
  }
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const key = `${port.protocol}/${port.port ?? 0}`
    if (ports.has(key)) {
      errors.push(duplicate(path.child("ports").index(index), shownPort(port)))
    }
    ports.add(key)
  }
  return errors
}

/** The fields by which ports are compared, in the format of Go. */
function shownPort({ protocol, port }: Port): object {
  return { Name: "", Protocol: protocol ?? "", AppProtocol: null, Port: port ?? 0, TargetPort: 0, NodePort: 0 }
}

function validateAffinity(spec: ServiceSpec): FieldError[] {
  const at = path.child("sessionAffinityConfig")
  const config = spec.sessionAffinityConfig
  if (spec.sessionAffinity === "None") {
    return config === undefined ? [] : [forbiddenField(at, "must not be set when session affinity is None")]
  }
  if (spec.sessionAffinity !== "ClientIP") return []
  if (config?.clientIP?.timeoutSeconds === undefined) {
    return [required(at, "when session affinity type is ClientIP")]
  }
  const seconds = config.clientIP.timeoutSeconds
  return seconds <= 0 || seconds > maxAffinitySeconds
    ? [
        invalidValue(
          at.child("clientIP", "timeoutSeconds"),
          seconds,
          `must be greater than 0 and less than ${maxAffinitySeconds}`,
        ),
      ]
    : []
}

function validateTraffic(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  const external = spec.externalTrafficPolicy
  const at = path.child("externalTrafficPolicy")
  if (isExternallyAccessible(spec)) errors.push(...oneOf(at, external, ["Cluster", "Local"]))
  else if (external) errors.push(invalidValue(at, external, "may only be set for externally-accessible services"))
  const health = spec.healthCheckNodePort ?? 0
  if (health !== 0 && !needsHealthCheckPort(spec)) {
    errors.push(
      invalidValue(
        path.child("healthCheckNodePort"),
        health,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    )
  } else if (health < 0 || health > 65_535) {
    errors.push(invalidValue(path.child("healthCheckNodePort"), health, inclusiveRange(1, 65_535)))
  }
  errors.push(...optionalOneOf(path.child("internalTrafficPolicy"), spec.internalTrafficPolicy, ["Cluster", "Local"]))
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"]
  if (spec.trafficDistribution !== undefined && !distributions.includes(spec.trafficDistribution)) {
    errors.push(notSupportedText(path.child("trafficDistribution"), spec.trafficDistribution, distributions))
  }
  return errors
}

/** Allocated addresses are immutable; a second family may be added and removed. */
function validateServiceUpdate(spec: ServiceSpec, current: ServiceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (spec.type !== "ExternalName" && current.type !== "ExternalName") {
    if (!(isHeadless(spec) && isHeadless(current))) errors.push(...keptFirst("clusterIPs", spec, current))
    if (!isHeadless(spec) && !isHeadless(current)) errors.push(...keptFirst("ipFamilies", spec, current))
  }
  if (spec.type === "LoadBalancer" && current.type === "LoadBalancer") {
    if (spec.loadBalancerClass !== current.loadBalancerClass) {
      errors.push(invalidValue(path.child("loadBalancerClass"), spec.loadBalancerClass, "may not change once set"))
    }
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(current)) {
    if (spec.healthCheckNodePort !== current.healthCheckNodePort) {
      errors.push(forbiddenField(path.child("healthCheckNodePort"), "field is immutable"))
    }
  }
  return errors
}

function keptFirst(field: "clusterIPs" | "ipFamilies", spec: ServiceSpec, current: ServiceSpec): FieldError[] {
  const [values, before] = [spec[field] ?? [], current[field] ?? []]
  const at = path.child(field)
  const changed = (index: number): FieldError => invalidValue(at.index(index), values, "may not change once set")
  if (values.length === before.length) {
    return before.flatMap((value, index) => (value === values[index] ? [] : [changed(index)]))
  }
  const errors: FieldError[] = []
  const word = field === "clusterIPs" ? "clusterIP" : "ipFamily"
  if (values.length === 0) errors.push(invalidValue(at.index(0), values, `primary ${word} can not be unset`))
  else if (before.length > 0 && values[0] !== before[0]) errors.push(changed(0))
  if (values.length === 1 && before.length > 1 && spec.ipFamilyPolicy !== "SingleStack") {
    errors.push(
      invalidValue(
        path.child("ipFamilyPolicy"),
        spec.ipFamilyPolicy,
        `must be set to 'SingleStack' when releasing the secondary ${word}`,
      ),
    )
  }
  return errors
}
