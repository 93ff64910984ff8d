// What waits in the queue: names, never objects. A key says "look at this again"; what to do is decided from both sides'
// caches when its turn comes.

import type { Resource } from "../client/rest.ts"

export interface SyncKey {
  tenant: string
  /** Plural name of the resource, or one of the two below. */
  resource: string
  /** In the tenant; "" for objects without one. */
  namespace: string
  name: string
}

/** The service-account tokens of the pod of that name. */
export const podTokens = "pod-tokens"
/** An Event of super about an object of the tenant. */
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
