// Virtual nodes: the real nodes as tenants see them. What moves without meaning (heartbeats) is not written, and what would
// tell of other tenants (images, attached volumes) or of the infrastructure (provider ids, pod ranges) is left out.

import type { Node, Pod } from "../../apimachinery/object.ts"
import { uidAnnotation, virtualNodeLabel } from "../../apimachinery/tenancy.ts"
import { nodes, pods } from "../../client/resources.ts"
import { equal, mergeDiff } from "../conversion/equality.ts"
import { isTenancyKey } from "../../apimachinery/tenancy.ts"
import type { Patch, Publication, SyncContext } from "./resource-sync.ts"

type Status = NonNullable<Node["status"]>
type Conditions = NonNullable<Status["conditions"]>

export const node: Publication<Node> = {
  resource: nodes,
  kind: "Node",
  hasStatus: true,
  toTenant(superObject, context) {
    if (context.settings.publishNodes === "used" && !isUsed(superObject.metadata.name ?? "", context)) return undefined
    const { taints, unschedulable } = superObject.spec ?? {}
    const labels = Object.fromEntries(
      Object.entries(superObject.metadata.labels ?? {}).filter(([key]) => !isTenancyKey(key)),
    )
    return {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: superObject.metadata.name ?? "",
        labels: { ...labels, [virtualNodeLabel]: "true" },
        annotations: { [uidAnnotation]: superObject.metadata.uid ?? "" },
      },
      spec: {
        ...(taints === undefined ? {} : { taints }),
        ...(unschedulable === undefined ? {} : { unschedulable }),
      },
      status: virtualStatus(superObject, context),
    }
  },
  isPublished: (object) => object.metadata.labels?.[virtualNodeLabel] === "true",
  changed(desired, object) {
    const patches: Patch[] = []
    const wanted = { labels: desired.metadata.labels ?? {}, spec: desired.spec ?? {} }
    const { taints, unschedulable } = object.spec ?? {}
    const labels = mergeDiff(object.metadata.labels ?? {}, wanted.labels)
    const spec = mergeDiff({ taints, unschedulable }, wanted.spec)
    const uid = desired.metadata.annotations?.[uidAnnotation]
    const annotations =
      object.metadata.annotations?.[uidAnnotation] === uid ? undefined : { annotations: { [uidAnnotation]: uid } }
    if (labels !== undefined || spec !== undefined || annotations !== undefined) {
      patches.push({
        patch: {
          metadata: { ...(labels === undefined ? {} : { labels }), ...annotations },
          ...(spec === undefined ? {} : { spec }),
        },
      })
    }
    if (!sameStatus(desired.status ?? {}, object.status ?? {})) {
      patches.push({ patch: { status: mergeDiff(object.status ?? {}, desired.status) }, subresource: "status" })
    }
    return patches
  },
}

/** true when tenants would see no difference: most updates of a node are heartbeats. */
export function onlyHeartbeat(before: Node, after: Node): boolean {
  return (
    equal(before.metadata.labels, after.metadata.labels) &&
    equal(before.spec, after.spec) &&
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
    capacity,
    allocatable,
    conditions,
    addresses: shownAddresses,
    daemonEndpoints: shownEndpoints,
    nodeInfo,
    runtimeHandlers,
    features,
  } as Status)
}

function sameStatus(a: Status, b: Status): boolean {
  return equal(withoutHeartbeats(a), withoutHeartbeats(b))
}

function withoutHeartbeats({ conditions, images: _images, ...status }: Status): unknown {
  const still: Conditions | undefined = conditions?.map(({ lastHeartbeatTime: _time, ...condition }) => condition)
  return { ...status, conditions: still }
}

function isUsed(name: string, { view }: SyncContext): boolean {
  return view.tenantObjects<Pod>(pods).some((pod) => pod.spec?.nodeName === name)
}

function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}
