// The owners of pods, and of revisions with the labels of pods, as sources of keys.

import { type LabelSelector, matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"
import { roundPauseMs } from "../round-pause.ts"

export interface Owners<T extends KubeObject> {
  kind: string
  all: TenantInformer<T>
  selectorOf: (owner: T) => LabelSelector | undefined
  /** Objects that a round of the owner goes through because of a change of one of them. */
  sizeOf: (owner: T) => number
}

/** Those whose selector matches: they may adopt an object that has no owner. */
export function adoptersOf<T extends KubeObject>(
  { all, selectorOf }: Pick<Owners<T>, "all" | "selectorOf">,
  tenant: string,
  { metadata: { namespace, labels = {} } }: KubeObject,
): T[] {
  return all.list(tenant, namespace).filter((owner) => matches(selectorFromLabelSelector(selectorOf(owner)), labels))
}

/** Enqueues the object's owner; of an object without one, all that may adopt it. */
export function enqueueOwner<T extends KubeObject>(
  owners: Owners<T>,
  controller: Controller<T>,
  tenant: string,
  owned: KubeObject,
): void {
  const owner = controllerOf(owned)
  if (owner?.kind === owners.kind) controller.enqueue(tenant, owned.metadata.namespace, owner.name)
  if (owner !== undefined) return
  for (const adopter of adoptersOf(owners, tenant, owned)) controller.enqueueObject(tenant, adopter)
}

/** The same for a change, which may be one of the owner. An owner of many waits for further changes. */
export function enqueueOwners<T extends KubeObject>(
  owners: Owners<T>,
  controller: Controller<T>,
  tenant: string,
  owned: KubeObject,
  previous: KubeObject,
): void {
  const { name = "", uid } = controllerOf(owned) ?? {}
  if (controllerOf(previous)?.uid !== uid) enqueueOwner(owners, controller, tenant, previous)
  const { namespace = "" } = owned.metadata
  const owner = owners.all.get(tenant, namespace, name)
  const pauseMs = owner?.metadata.uid === uid && owner !== undefined ? roundPauseMs(owners.sizeOf(owner)) : 0
  if (pauseMs === 0) enqueueOwner(owners, controller, tenant, owned)
  else controller.enqueueAfter({ tenant, namespace, name }, pauseMs)
}
