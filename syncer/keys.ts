// Items of the queue: names, never objects. A key means "reconcile this"; what to do is decided from the caches of both sides when
// the key is processed.

import type { Resource } from "../client/rest.ts"

export interface SyncKey {
  tenant: string
  /** Plural name of the resource, or one of the two constants below. */
  resource: string
  /** Namespace in the tenant; "" for cluster-scoped objects. */
  namespace: string
  name: string
}

/** Resource of keys for the service account tokens of the pod with that name; "": those that do not say of which. */
export const podTokens = "pod-tokens"
/** Resource of keys for super Events about the tenant's objects. */
export const superEvents = "events"

export function identify({ tenant, resource, namespace, name }: SyncKey): string {
  return `${tenant} ${resource} ${namespace} ${name}`
}

export function keyOf(
  tenant: string,
  resource: Resource | string,
  namespace: string | undefined,
  name: string,
): SyncKey {
  return {
    tenant,
    resource: typeof resource === "string" ? resource : resource.resource,
    namespace: namespace ?? "",
    name,
  }
}
