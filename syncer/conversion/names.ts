// Names between a tenant and the super cluster, as far as they are not the same on both sides. The functions live in
// apimachinery/tenancy.ts because vn-agent and operator need them as well.

import { superNamespace } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

export { clusterKey, superNamespace } from "../../apimachinery/tenancy.ts"

/** The super namespace for a tenant's object; undefined for objects without namespace. */
export function superNamespaceOf(tenant: Tenant, namespace: string | undefined): string | undefined {
  return namespace === undefined || namespace === "" ? undefined : superNamespace(tenant.clusterKey, namespace)
}
