// Maps a super object to the key of its tenant object. Names are never parsed: annotations record the owner.

import type { KubeObject } from "../apimachinery/object.ts"
import { tokenPodNameAnnotation } from "../apimachinery/tenancy.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { keyOf, podTokens, type SyncKey } from "./keys.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"

export function superKey(sync: ResourceSync, tenant: string, superObject: KubeObject): SyncKey | undefined {
  const owner = recordedOwner(superObject)
  if (owner === undefined) return undefined
  if (!sync.resource.namespaced) return keyOf(tenant, sync.resource, undefined, owner.namespace)
  const pod = superObject.metadata.annotations?.[tokenPodNameAnnotation]
  if (sync.kind === "Secret" && pod !== undefined) return keyOf(tenant, podTokens, owner.namespace, pod)
  const { name = "" } = superObject.metadata
  const tenantName = sync.tenantName === undefined ? name : sync.tenantName(name, superObject)
  return tenantName === undefined ? undefined : keyOf(tenant, sync.resource, owner.namespace, tenantName)
}
