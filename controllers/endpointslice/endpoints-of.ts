// The endpoints in the slices of a Service: one per pod, grouped by address family and ports.
// Source: k8s.io/endpointslice/utils.go.

import type { Node, Pod, Service } from "../../apimachinery/object.ts"
import { nodes as nodeResource } from "../../client/resources.ts"
import { canonicalAddress, familyOf } from "../canonical-address.ts"
import type { ControllerContext } from "../context.ts"
import { isReady, isTerminating } from "../pods/pod-state.ts"
import type { Endpoint, Ports, Wanted } from "./plan.ts"
import { addressesIn, canBeEndpoint, hostnameOf, portsOf } from "./service-pods.ts"

const hintsAnnotation = "service.kubernetes.io/topology-aware-hints"
const modeAnnotation = "service.kubernetes.io/topology-mode"
export const zoneLabel = "topology.kubernetes.io/zone"

/** The hints of such a Service are computed from all of its endpoints (topology-hints.ts). */
export const isAuto = ({ metadata: { annotations = {} } }: Service): boolean =>
  ["Auto", "auto"].includes(annotations[hintsAnnotation] ?? annotations[modeAnnotation] ?? "")

export function familiesOf({ spec }: Service): readonly string[] {
  const { ipFamilies = [], clusterIP = "" } = spec ?? {}
  if (ipFamilies.length > 0) return ipFamilies
  return clusterIP === "" || clusterIP === "None" ? ["IPv4", "IPv6"] : [familyOf(canonicalAddress(clusterIP))]
}

export function wantedOf(ctx: ControllerContext, tenant: string, service: Service, pods: readonly Pod[]): Wanted[] {
  const portsIn = portsOf(service)
  return familiesOf(service).flatMap((addressType) => {
    const ofPorts = new Map<Ports, Wanted>()
    for (const pod of pods) {
      if (!canBeEndpoint(pod, true)) continue
      const endpoint = endpointOf(ctx, tenant, service, pod, addressType)
      if (endpoint === undefined) continue
      const ports = portsIn(pod)
      const group = ofPorts.get(ports) ?? { addressType, ports, endpoints: [] }
      ofPorts.set(ports, group)
      group.endpoints.push(endpoint)
    }
    return [...ofPorts.values()]
  })
}

/** Pods on unknown nodes, which are not endpoints unless the Service publishes not ready addresses. */
export function podsOfNoNode(ctx: ControllerContext, tenant: string, service: Service, pods: readonly Pod[]): Pod[] {
  if (service.spec?.publishNotReadyAddresses === true) return []
  const nodes = ctx.informers.of<Node>(nodeResource)
  // Nearly all have one.
  return pods.filter(
    (pod) => nodes.get(tenant, undefined, pod.spec?.nodeName ?? "") === undefined && canBeEndpoint(pod, true),
  )
}

function endpointOf(
  ctx: ControllerContext,
  tenant: string,
  service: Service,
  pod: Pod,
  family: string,
): Endpoint | undefined {
  const addresses = addressesIn(pod, family)
  if (addresses.length === 0) return undefined
  const serving = isReady(pod)
  const terminating = isTerminating(pod)
  const { namespace = "", name = "", uid = "" } = pod.metadata
  const nodeName = pod.spec?.nodeName
  const node =
    nodeName === undefined ? undefined : ctx.informers.of<Node>(nodeResource).get(tenant, undefined, nodeName)
  const publishesAll = service.spec?.publishNotReadyAddresses === true
  if (node === undefined && !publishesAll) return undefined
  const zone = node?.metadata.labels?.[zoneLabel]
  const hostname = hostnameOf(pod, service)
  return {
    addresses,
    conditions: {
      ready: publishesAll || (serving && !terminating),
      serving,
      terminating,
    },
    targetRef: { kind: "Pod", namespace, name, uid },
    ...(nodeName === undefined || nodeName === "" ? {} : { nodeName }),
    ...(zone === undefined || zone === "" ? {} : { zone }),
    ...(hostname === undefined ? {} : { hostname }),
    ...hintsOf(service, publishesAll || (serving && !terminating), zone, nodeName),
  }
}

/** The hints for an endpoint, according to the Service's traffic distribution. */
function hintsOf(
  service: Service,
  isReady: boolean,
  zone: string | undefined,
  node: string | undefined,
): Pick<Endpoint, "hints"> {
  const preference = isAuto(service) ? undefined : service.spec?.trafficDistribution
  if (!isReady || !["PreferClose", "PreferSameZone", "PreferSameNode"].includes(preference ?? "")) return {}
  const forZones = zone === undefined || zone === "" ? {} : { forZones: [{ name: zone }] }
  const forNodes =
    preference !== "PreferSameNode" || node === undefined || node === "" ? {} : { forNodes: [{ name: node }] }
  const hints = { ...forZones, ...forNodes }
  return Object.keys(hints).length === 0 ? {} : { hints }
}
