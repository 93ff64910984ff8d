// Nodes that a tenant has brought itself: their kubelets call the tenant, and super does not know them. Pods on them are theirs alone, so
// they have no copy in super. Pure.

import { matchesNode, toleranceOf, toleratesTaints } from "../../../apimachinery/core/node-selection.ts"
import type { Node, Pod, PodSpec } from "../../../apimachinery/object.ts"
import { isVirtualNode } from "../../../apimachinery/tenancy.ts"
import { nodes } from "../../../client/resources.ts"
import type { SyncContext, View } from "../resource-sync.ts"

/** Whether the pod is bound to one of the tenant's own nodes. */
export function isOnOwnNode({ spec }: Pod, { view }: SyncContext): boolean {
  return ownNode(spec?.nodeName, view) !== undefined
}

/**
 * The own node that an unbound pod is made for, as a DaemonSet's pods are: super's scheduler does not know this node, and there is no
 * choice to make. Resources are checked by the kubelet, as for every pod. undefined: a scheduler has to decide.
 */
export function ownNodeFor({ spec }: Pod, { view }: SyncContext): string | undefined {
  if (spec === undefined || (spec.nodeName ?? "") !== "" || (spec.schedulingGates?.length ?? 0) > 0) return undefined
  if ((spec.schedulerName ?? defaultScheduler) !== defaultScheduler) return undefined
  const node = ownNode(onlyNode(spec), view)
  if (node === undefined || !matchesNode(spec, node)) return undefined
  return toleratesTaints(toleranceOf(spec.tolerations), node.spec?.taints) ? node.metadata.name : undefined
}

const defaultScheduler = "default-scheduler"

function ownNode(name: string | undefined, view: View): Node | undefined {
  if (name === undefined || name === "" || view.superObject(nodes, undefined, name) !== undefined) return undefined
  const node = view.tenantObject<Node>(nodes, undefined, name)
  return node === undefined || isVirtualNode(node) ? undefined : node
}

/** The name that every term of the required node affinity demands. */
function onlyNode({ affinity }: PodSpec): string | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const names = new Set(
    terms.map(({ matchFields = [] }) => {
      const field = matchFields.find(({ key, operator }) => key === "metadata.name" && operator === "In")
      return field?.values?.length === 1 ? field.values[0] : undefined
    }),
  )
  return names.size === 1 ? [...names][0] : undefined
}
