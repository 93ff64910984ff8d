// Maps a super object to the key of its tenant object. Names are never parsed: annotations record the owner.

import type { KubeObject } from "../apimachinery/object.ts"
import { tokenPodNameAnnotation } from "../apimachinery/tenancy.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { keyOf, podTokens, type SyncKey } from "./keys.ts"
import { isTokenSecret } from "./resources/pod/tokens.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"

export function superKey(sync: ResourceSync, tenant: string, superObject: KubeObject): SyncKey | undefined {
  const owner = recordedOwner(superObject)
  if (owner === undefined) return undefined
  if (!sync.resource.namespaced) return keyOf(tenant, sync.resource, undefined, owner.namespace)
  if (sync.kind === "Secret" && isTokenSecret(superObject)) {
    return keyOf(tenant, podTokens, owner.namespace, superObject.metadata.annotations?.[tokenPodNameAnnotation] ?? "")
  }
  const { name = "" } = superObject.metadata
  const tenantName = sync.tenantName === undefined ? name : sync.tenantName(name, superObject)
  return tenantName === undefined ? undefined : keyOf(tenant, sync.resource, owner.namespace, tenantName)
}
