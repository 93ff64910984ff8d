// Services. Their addresses are super's, claimed there before the tenant's write is answered (../service-addresses.ts). Whenever super
// assigns numbers to a copy anew (it is recreated, or somebody has changed its type), the copy asks for those that the tenant knows. If it
// cannot get them, the tenant is told in an event, and a new address is published in an annotation that its DNS understands.

import type { Service } from "../../apimachinery/object.ts"
import {
  claimedAfterAnnotation,
  clusterIPAnnotation,
  transparentClusterIPAnnotation,
} from "../../apimachinery/tenancy.ts"
import { services } from "../../client/resources.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { syncerLimits } from "../options.ts"
import { mayPass, type Port, samePort, withoutRefused } from "./refused-numbers.ts"
import type { ResourceSync, SyncContext, TenantStep } from "./resource-sync.ts"
import { givenMarks, statusChange, unmarking } from "./service-status.ts"

type Spec = NonNullable<Service["spec"]>

/** Fields that the tenant controls. `defaulted`: an absent field means the server's default, which super has filled in itself. */
const ownedFields: readonly { name: keyof Spec; defaulted: boolean }[] = [
  { name: "type", defaulted: true },
  { name: "selector", defaulted: false },
  { name: "externalName", defaulted: false },
  { name: "externalIPs", defaulted: false },
  { name: "loadBalancerIP", defaulted: false },
  // A load balancer's webhook may have set it, and it never changes.
  { name: "loadBalancerClass", defaulted: true },
  { name: "loadBalancerSourceRanges", defaulted: false },
  { name: "sessionAffinity", defaulted: true },
  { name: "sessionAffinityConfig", defaulted: true },
  { name: "externalTrafficPolicy", defaulted: true },
  { name: "internalTrafficPolicy", defaulted: true },
  { name: "allocateLoadBalancerNodePorts", defaulted: true },
  // The default, false, is never written.
  { name: "publishNotReadyAddresses", defaulted: false },
  { name: "trafficDistribution", defaulted: false },
]

export const service: ResourceSync<Service> = {
  resource: services,
  kind: "Service",
  claimGraceMs: syncerLimits.claimGraceMs,
  toSuper: (object, context) => ({ apiVersion: "v1", kind: "Service", metadata: {}, spec: superSpec(object, context) }),
  annotations(object, _context, superObject) {
    const address = object.spec?.clusterIP
    const hasAddress = address !== undefined && address !== "" && address !== "None"
    return {
      ...(hasAddress ? { [clusterIPAnnotation]: address } : {}),
      ...(superObject === undefined ? {} : givenMarks(superObject)),
    }
  },
  changed(object, superObject, context) {
    if (isAhead(superObject, object, context.now)) return []
    const patch = specChange(superSpec(object, context), superObject.spec ?? {})
    const unmarked = unmarking(object, superObject)
    return [...(patch === undefined ? [] : [{ patch: { spec: patch } }]), ...(unmarked === undefined ? [] : [unmarked])]
  },
  isCreatedIfUnsupported: true,
  unsupported: ({ spec }, { settings }) =>
    settings.externalIPs === "deny" && (spec?.externalIPs ?? []).length > 0
      ? "spec.externalIPs: the super cluster does not lead traffic to addresses that tenants choose, and the Service works without them; leave them out"
      : undefined,
  toTenant(object, superObject, { tenant, now }) {
    const steps: TenantStep[] = []
    const metadata = isAhead(superObject, object, now) ? undefined : addressAnnotation(object, superObject)
    if (metadata !== undefined) steps.push({ patch: { metadata } })
    const status = statusChange(object, superObject, tenant)
    if (status !== undefined) steps.push(status)
    return steps
  },
  passes: mayPass,
  // What it asks for is taken by now, or never was super's: any other address and port is acceptable.
  fallback(desired, error, superObject) {
    const present = superObject?.spec
    const rest = withoutRefused(desired.spec ?? {}, error, present)
    if (rest === undefined) return undefined
    if (present === undefined) return { ...desired, spec: rest }
    // If super has all but the node port, that is what is refused.
    const { ports, ...others } = rest
    const isThere = equalIgnoringNulls(ports ?? present.ports, present.ports)
    const { labels, annotations } = desired.metadata
    if (isThere && Object.keys(others).length === 0 && labels === undefined && annotations === undefined)
      return undefined
    return { ...desired, spec: isThere ? others : rest }
  },
}

const superSpec = ({ spec = {} }: Service, { settings }: SyncContext): Spec =>
  settings.externalIPs === "deny" ? withoutExternalIPs(spec) : { ...spec }

/** Also removes externalTrafficPolicy if the Service's type has external traffic only through these addresses. */
export function withoutExternalIPs({ externalIPs: _addresses, ...spec }: Spec): Spec {
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") return spec
  const { externalTrafficPolicy: _policy, ...rest } = spec
  return rest
}

/** The super Service was changed for a write of the tenant that this process has not seen yet. */
function isAhead(superObject: Service, object: Service, now: number): boolean {
  const [version = "", time = ""] = superObject.metadata.annotations?.[claimedAfterAnnotation]?.split(" ") ?? []
  return version === object.metadata.resourceVersion && now - Date.parse(time) < syncerLimits.claimGraceMs
}

/** The merge patch of super's spec, or undefined. Addresses and ports that super assigned are kept. */
export function specChange(wanted: Spec, current: Spec): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = toBeAssigned(wanted, current)
  for (const { name, defaulted } of ownedFields) {
    const value = wanted[name]
    if (value === undefined && defaulted) continue
    const change = mergeDiff(current[name], value)
    if (change !== undefined) patch[name] = change
  }
  const ports = mergePorts(wanted, current.ports ?? [])
  if (!equalIgnoringNulls(ports, current.ports ?? [])) patch["ports"] = ports
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** The numbers of `wanted` that super assigns with this change: a server assigns them when it begins to need them, and never changes them. */
function toBeAssigned(wanted: Spec, current: Spec): Partial<Spec> {
  const begins = (needs: (spec: Spec) => boolean): boolean => needs(wanted) && !needs(current)
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy, healthCheckNodePort } = wanted
  return {
    ...(begins(needsAddress) && clusterIP ? defined({ clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy }) : {}),
    ...(begins(needsHealthCheckPort) && healthCheckNodePort ? { healthCheckNodePort } : {}),
  }
}

const needsAddress = ({ type }: Spec): boolean => type !== "ExternalName"

const needsHealthCheckPort = ({ type, externalTrafficPolicy }: Spec): boolean =>
  type === "LoadBalancer" && externalTrafficPolicy === "Local"

const defined = (fields: Record<string, unknown>): Partial<Spec> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** The tenant's ports, with super's node ports where the tenant specifies none but may have some. */
function mergePorts({ type, allocateLoadBalancerNodePorts, ports = [] }: Spec, current: readonly Port[]): Port[] {
  // A server keeps those that somebody has made by another type in between.
  if (type === "LoadBalancer" && allocateLoadBalancerNodePorts === false) return ports
  return ports.map((port) => {
    if (port.nodePort !== undefined && port.nodePort !== 0) return port
    const nodePort = samePort(port, current)?.nodePort
    return nodePort === undefined ? port : { ...port, nodePort }
  })
}

/** Set only if the tenant's own address is not the one that works. */
function addressAnnotation(object: Service, superObject: Service): Record<string, unknown> | undefined {
  const works = superObject.spec?.clusterIP
  const shown = object.metadata.annotations?.[transparentClusterIPAnnotation]
  const wanted = works === undefined || works === object.spec?.clusterIP ? undefined : works
  return shown === wanted ? undefined : { annotations: { [transparentClusterIPAnnotation]: wanted ?? null } }
}
