// Virtual nodes: the real nodes as tenants see them. Irrelevant changes (heartbeats) are not written. Fields that would reveal other
// tenants (images, attached volumes, their resources) or the infrastructure (provider ids, pod ranges) are omitted. What a tenant sets
// on its nodes is kept (virtual-node.ts), and its extended resources are counted in super.

import type { Node, Pod } from "../../apimachinery/object.ts"
import {
  isTenancyKey,
  isVirtualNode,
  publishedAnnotation,
  uidAnnotation,
  virtualNodeLabel,
} from "../../apimachinery/tenancy.ts"
import { nodes, pods } from "../../client/resources.ts"
import type { Tenant } from "../../client/tenants.ts"
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { clusterKeyOfResource, isTenantsResource, superResource, tenantResource } from "../conversion/resource-names.ts"
import { syncerLimits } from "../options.ts"
import type { Patch, Publication, SyncContext } from "./resource-sync.ts"
import { ownFields, publishedRecord, withOwnFields } from "./virtual-node.ts"

/** Names of resources in a message. */
const maxNamesTold = 8

type Status = NonNullable<Node["status"]>
type Conditions = NonNullable<Status["conditions"]>

export const node: Publication<Node> = {
  resource: nodes,
  toTenant(superObject, context) {
    if (context.settings.publishNodes === "used" && !isUsed(superObject.metadata.name ?? "", context)) return undefined
    const { taints, unschedulable } = superObject.spec ?? {}
    const labels = Object.fromEntries(
      Object.entries(superObject.metadata.labels ?? {}).filter(([key]) => !isTenancyKey(key)),
    )
    const shown: Node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: superObject.metadata.name ?? "",
        labels: { ...labels, [virtualNodeLabel]: "true" },
      },
      spec: {
        ...(taints === undefined ? {} : { taints }),
        ...(unschedulable === undefined ? {} : { unschedulable }),
      },
      status: virtualStatus(superObject, context),
    }
    const uid = superObject.metadata.uid ?? ""
    shown.metadata.annotations = { [uidAnnotation]: uid, [publishedAnnotation]: publishedRecord(shown) }
    return shown
  },
  isPublished: isVirtualNode,
  changed(shown, object) {
    const patches: Patch[] = []
    const desired = withOwnFields(shown, object)
    const { taints, unschedulable } = object.spec ?? {}
    const labels = mergeDiff(object.metadata.labels ?? {}, desired.metadata.labels)
    const spec = mergeDiff({ taints, unschedulable }, desired.spec)
    const annotations = mergeDiff(object.metadata.annotations ?? {}, {
      ...object.metadata.annotations,
      ...shown.metadata.annotations,
    })
    if (labels !== undefined || spec !== undefined || annotations !== undefined) {
      const metadata = {
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      }
      patches.push({ patch: { metadata, ...(spec === undefined ? {} : { spec }) } })
    }
    if (!sameStatus(desired.status ?? {}, object.status ?? {})) {
      patches.push({ patch: { status: mergeDiff(object.status ?? {}, desired.status) }, subresource: "status" })
    }
    return patches
  },
  claim(object, superObject, { tenant }) {
    const { present, wanted } = resourcesInSuper(object, superObject, tenant)
    const change = mergeDiff(present, wanted)
    if (change === undefined) return undefined
    const { resourceVersion } = superObject.metadata
    // Others may take the last room at the same time.
    const isAdded = Object.keys(wanted).some((name) => !Object.hasOwn(present, name))
    const seen = isAdded && resourceVersion !== undefined ? { metadata: { resourceVersion } } : {}
    return { patch: { ...seen, status: { capacity: change, allocatable: change } }, subresource: "status" }
  },
  unclaimed(object, superObject, { tenant }) {
    const { left } = resourcesInSuper(object, superObject, tenant)
    if (left.length === 0) return undefined
    const names = left.slice(0, maxNamesTold).map((name) => JSON.stringify(name))
    const more = left.length > maxNamesTold ? ` and ${left.length - maxNamesTold} more` : ""
    return `status.capacity: the super cluster does not count ${names.join(", ")}${more} on this node, and no pod that requests them runs here: it counts ${syncerLimits.resourcesPerNode} extended resources of a tenant, and ${syncerLimits.resourcesOfAllPerNode} of all together`
  },
}

interface ResourcesInSuper {
  /** By their names in super, with their amounts: as they are, and as they should be. */
  present: Record<string, string>
  wanted: Record<string, string>
  /** Names in the tenant for which there is no room. */
  left: string[]
}

function resourcesInSuper(object: Node | undefined, superObject: Node, tenant: Tenant): ResourcesInSuper {
  const capacity = (superObject.status?.capacity ?? {}) as Record<string, string>
  const present: Record<string, string> = {}
  let others = 0
  for (const name in capacity) {
    if (tenantResource(name, tenant) !== undefined) present[name] = capacity[name] as string
    else if (isTenantsResource(name)) others++
  }
  const own = object === undefined ? {} : ownFields(object).resources
  const names = Object.keys(own).sort()
  const left = names.splice(syncerLimits.resourcesPerNode)
  const wanted: Record<string, string> = {}
  const added: string[] = []
  for (const name of names) {
    const there = superResource(name, tenant)
    if (there === undefined) left.push(name)
    else if (Object.hasOwn(present, there)) wanted[there] = own[name] as string
    else added.push(name)
  }
  for (const name of added) {
    const hasRoom = others + Object.keys(wanted).length < syncerLimits.resourcesOfAllPerNode
    if (hasRoom) wanted[superResource(name, tenant) as string] = own[name] as string
    else left.push(name)
  }
  return { present, wanted, left }
}

/** Tenants whose resources on the node are not the same. */
export function tenantsOfChangedResources(before: Node, after: Node): Set<string> {
  const [old, now] = [before, after].map(({ status }) => (status?.capacity ?? {}) as Record<string, string>)
  const changed = new Set<string>()
  for (const name of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
    const clusterKey = old?.[name] === now?.[name] ? undefined : clusterKeyOfResource(name)
    if (clusterKey !== undefined) changed.add(clusterKey)
  }
  return changed
}

/** Whether tenants would see no difference: most updates of a node are heartbeats. */
export function isOnlyHeartbeat(before: Node, after: Node): boolean {
  return (
    equalIgnoringNulls(before.metadata.labels, after.metadata.labels) &&
    equalIgnoringNulls(before.spec, after.spec) &&
    sameStatus(before.status ?? {}, after.status ?? {})
  )
}

function virtualStatus(superObject: Node, { settings }: SyncContext): Status {
  const {
    capacity,
    allocatable,
    conditions,
    addresses,
    daemonEndpoints,
    nodeInfo,
    runtimeHandlers,
    features,
    declaredFeatures,
  } = superObject.status ?? {}
  const endpoint = settings.vnAgentEndpoint?.(superObject)
  const shownAddresses =
    endpoint === undefined
      ? addresses
      : [
          { type: endpoint.type, address: endpoint.address },
          ...(addresses ?? []).filter(({ type }) => type === "Hostname" && type !== endpoint.type),
        ]
  const shownEndpoints = endpoint === undefined ? daemonEndpoints : { kubeletEndpoint: { Port: endpoint.port } }
  return compact({
    capacity: withoutTenants(capacity),
    allocatable: withoutTenants(allocatable),
    conditions,
    addresses: shownAddresses,
    daemonEndpoints: shownEndpoints,
    nodeInfo,
    runtimeHandlers,
    features,
    declaredFeatures,
  } as Status)
}

function sameStatus(a: Status, b: Status): boolean {
  return equalIgnoringNulls(withoutHeartbeats(a), withoutHeartbeats(b))
}

/** Nor is what other tenants have there. */
function withoutHeartbeats({ conditions, images: _images, capacity, allocatable, ...status }: Status): unknown {
  const still: Conditions | undefined = conditions?.map(({ lastHeartbeatTime: _time, ...condition }) => condition)
  return {
    ...status,
    conditions: still,
    capacity: withoutTenants(capacity),
    allocatable: withoutTenants(allocatable),
  }
}

function withoutTenants<T extends object>(amounts: T | undefined): T | undefined {
  if (amounts === undefined || !Object.keys(amounts).some(isTenantsResource)) return amounts
  return Object.fromEntries(Object.entries(amounts).filter(([name]) => !isTenantsResource(name))) as T
}

/** By what they were found in: a comparison asks for every node. */
const usedNodes = new WeakMap<SyncContext, ReadonlySet<string>>()

function isUsed(name: string, context: SyncContext): boolean {
  let used = usedNodes.get(context)
  if (used === undefined) {
    used = new Set(context.view.tenantObjects<Pod>(pods).map(({ spec }) => spec?.nodeName ?? ""))
    usedNodes.set(context, used)
  }
  return used.has(name)
}

function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}
