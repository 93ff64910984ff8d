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
import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { mergeDiff } from "../conversion/equality.ts"
import { isTenantsResource, superResource, tenantResource } from "../conversion/resource-names.ts"
import { syncerLimits } from "../options.ts"
import type { Patch, Publication, SyncContext } from "./resource-sync.ts"
import { ownFields, publishedRecord, withOwnFields } from "./virtual-node.ts"

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
    const present: Record<string, string> = {}
    const capacity = (superObject.status?.capacity ?? {}) as Record<string, string>
    for (const name in capacity) {
      if (tenantResource(name, tenant) !== undefined) present[name] = capacity[name] as string
    }
    const wanted: Record<string, string> = {}
    const own = object === undefined ? {} : ownFields(object).resources
    for (const name of Object.keys(own).sort().slice(0, syncerLimits.resourcesPerNode)) {
      const there = superResource(name, tenant)
      if (there !== undefined) wanted[there] = own[name] as string
    }
    const change = mergeDiff(present, wanted)
    return change === undefined
      ? undefined
      : { patch: { status: { capacity: change, allocatable: change } }, subresource: "status" }
  },
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
  const { capacity, allocatable, conditions, addresses, daemonEndpoints, nodeInfo, runtimeHandlers, features } =
    superObject.status ?? {}
  const endpoint = settings.vnAgentEndpoint?.(superObject)
  const shownAddresses =
    endpoint === undefined
      ? addresses
      : [
          { type: "InternalIP", address: endpoint.address },
          ...(addresses ?? []).filter(({ type }) => type === "Hostname"),
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
  } as Status)
}

function sameStatus(a: Status, b: Status): boolean {
  return equalIgnoringNulls(withoutHeartbeats(a), withoutHeartbeats(b))
}

function withoutHeartbeats({ conditions, images: _images, ...status }: Status): unknown {
  const still: Conditions | undefined = conditions?.map(({ lastHeartbeatTime: _time, ...condition }) => condition)
  return { ...status, conditions: still }
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
