// When a ReplicaSet or ReplicationController is reconciled because of its pods. Source: k8s.io/kubernetes/pkg/controller/replicaset
// (addPod, updatePod, deletePod).

import { controllerOf, type Pod } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"
import type { Expectations } from "../pods/expectations.ts"
import { adoptersOf } from "../pods/owners.ts"
import { isActive, isTerminating } from "../pods/pod-state.ts"
import { roundPauseMs } from "../round-pause.ts"
import type { ReplicaKind, ReplicaObject } from "./kinds.ts"

interface Followed {
  kind: ReplicaKind
  owners: TenantInformer<ReplicaObject>
  pods: TenantInformer<Pod>
  controller: Controller<ReplicaObject>
  expectations: Expectations
}

export function followReplicas({ kind, owners, pods, controller, expectations }: Followed): void {
  const adopters = { all: owners, selectorOf: (owner: ReplicaObject) => kind.selector(owner) }
  const ownerOf = (pod: Pod): { name: string; uid: string } | undefined => {
    const owner = controllerOf(pod)
    return owner?.kind === kind.kind ? owner : undefined
  }
  const enqueueOwner = (tenant: string, pod: Pod): void => {
    const owner = ownerOf(pod)
    if (owner !== undefined) controller.enqueue(tenant, pod.metadata.namespace, owner.name)
    else if (controllerOf(pod) === undefined && isActive(pod)) {
      for (const adopter of adoptersOf(adopters, tenant, pod)) controller.enqueueObject(tenant, adopter)
    }
  }
  const enqueueChanged = (tenant: string, pod: Pod): void => {
    const owner = ownerOf(pod)
    const namespace = pod.metadata.namespace ?? ""
    const replicas = owner === undefined ? 0 : (owners.get(tenant, namespace, owner.name)?.spec?.replicas ?? 0)
    const pauseMs = roundPauseMs(replicas)
    if (owner === undefined || pauseMs === 0) enqueueOwner(tenant, pod)
    else controller.enqueueAfter({ tenant, namespace, name: owner.name }, pauseMs)
  }
  pods.subscribe({
    added(tenant, pod) {
      const owner = ownerOf(pod)
      if (owner !== undefined && !isTerminating(pod)) expectations.creationObserved(owner.uid)
      enqueueOwner(tenant, pod)
    },
    updated(tenant, pod, previous) {
      const owner = ownerOf(pod)
      if (owner !== undefined && isTerminating(pod)) expectations.deletionObserved(owner.uid, pod.metadata.uid ?? "")
      const before = controllerOf(previous)
      if (before !== undefined && before.uid !== owner?.uid) enqueueOwner(tenant, previous)
      enqueueChanged(tenant, pod)
    },
    deleted(tenant, pod) {
      const owner = ownerOf(pod)
      if (owner === undefined) return
      expectations.deletionObserved(owner.uid, pod.metadata.uid ?? "")
      controller.enqueue(tenant, pod.metadata.namespace, owner.name)
    },
  })
  owners.subscribe({ forgotten: ({ metadata: { uid = "" } }) => expectations.forget(uid) })
}
