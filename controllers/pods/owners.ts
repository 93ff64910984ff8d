// The owners of pods, and of revisions with the labels of pods, as sources of keys.

import { type LabelSelector, matches, selectorFromLabelSelector } from "../../apimachinery/labels.ts"
import { controllerOf, type KubeObject } from "../../apimachinery/object.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Controller } from "../controller.ts"

export interface Owners<T extends KubeObject> {
  kind: string
  all: TenantInformer<T>
  selectorOf: (owner: T) => LabelSelector | undefined
}

/** Those whose selector matches: they may adopt an object that has no owner. */
export function adoptersOf<T extends KubeObject>(
  { all, selectorOf }: Omit<Owners<T>, "kind">,
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

/** The same for a change, which may be one of the owner. */
export function enqueueOwners<T extends KubeObject>(
  owners: Owners<T>,
  controller: Controller<T>,
  tenant: string,
  owned: KubeObject,
  previous: KubeObject,
): void {
  if (controllerOf(previous)?.uid !== controllerOf(owned)?.uid) enqueueOwner(owners, controller, tenant, previous)
  enqueueOwner(owners, controller, tenant, owned)
}
