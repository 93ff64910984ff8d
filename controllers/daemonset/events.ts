// When a DaemonSet is reconciled: changes of its pods and revisions, and of the nodes where it has to create or delete a pod. Source:
// k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go (addPod … nodeUpdated).

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import { controllerOf, type KubeObject, type Node, type Pod } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"
import type { ControllerRevision } from "../history/revisions.ts"
import type { Expectations } from "../pods/expectations.ts"
import { enqueueOwner, enqueueOwners, type Owners } from "../pods/owners.ts"
import { placementOf } from "./placement.ts"
import type { DaemonSet } from "./types.ts"

interface Followed {
  sets: TenantInformer<DaemonSet>
  pods: TenantInformer<Pod>
  nodes: TenantInformer<Node>
  revisions: TenantInformer<ControllerRevision>
  controller: Controller<DaemonSet>
  expectations: Expectations
}

/** Those that a round goes through. */
export const nodesOf = ({ status }: DaemonSet): number => status?.desiredNumberScheduled ?? 0

/** Pods, and the revisions of their templates. */
export function followPods({ sets, pods, revisions, controller, expectations }: Omit<Followed, "nodes">): void {
  const owners: Owners<DaemonSet> = {
    kind: "DaemonSet",
    all: sets,
    selectorOf: ({ spec }) => spec?.selector,
    sizeOf: nodesOf,
  }
  const enqueue = (tenant: string, owned: KubeObject): void => enqueueOwner(owners, controller, tenant, owned)
  const enqueueBoth = (tenant: string, owned: KubeObject, previous: KubeObject): void =>
    enqueueOwners(owners, controller, tenant, owned, previous)
  pods.subscribe({
    added(tenant, pod) {
      expectations.creationObserved(controllerOf(pod)?.uid ?? "")
      enqueue(tenant, pod)
    },
    updated(tenant, pod, previous) {
      if (pod.metadata.deletionTimestamp !== undefined) {
        expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      }
      enqueueBoth(tenant, pod, previous)
    },
    deleted(tenant, pod) {
      expectations.deletionObserved(controllerOf(pod)?.uid ?? "", pod.metadata.uid ?? "")
      enqueue(tenant, pod)
    },
  })
  revisions.subscribe({
    // Also one of its own, as upstream does not: its number was chosen with a cache that may not have shown the others.
    added: enqueue,
    updated: enqueueBoth,
    deleted: enqueue,
  })
}

export function followNodes({
  sets,
  pods,
  nodes,
  controller,
}: Pick<Followed, "sets" | "pods" | "nodes" | "controller">): void {
  /** Enqueues only the sets that have to create or delete a pod on the node. */
  const nodeChanged = (tenant: string, node: Node): void => {
    // All sets are enqueued at synced.
    if (!nodes.isSynced(tenant)) return
    const owners = pods.byIndex(tenant, "node", node.metadata.name ?? "").map((pod) => {
      const { kind, name } = controllerOf(pod) ?? {}
      return kind === "DaemonSet" ? `${pod.metadata.namespace}/${name}` : undefined
    })
    const present = new Set(owners)
    for (const set of sets.list(tenant)) {
      const { run, stay } = placementOf(set)(node)
      const isThere = present.has(`${set.metadata.namespace}/${set.metadata.name}`)
      // A misscheduled pod may have become correctly scheduled.
      const isOutdated = isThere ? !stay || (set.status?.numberMisscheduled ?? 0) > 0 : run
      if (isOutdated) controller.enqueueObject(tenant, set)
    }
  }
  nodes.subscribe({
    added: nodeChanged,
    updated(tenant, node, previous) {
      const isSame =
        equalIgnoringNulls(node.metadata.labels, previous.metadata.labels) &&
        equalIgnoringNulls(node.spec?.taints, previous.spec?.taints)
      if (!isSame) nodeChanged(tenant, node)
    },
    // As upstream, a deleted one is noticed when its pods are deleted, or something else of the set changes.
  })
}
