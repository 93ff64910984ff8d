// Texts from the super cluster (event messages, container states) contain super namespaces and uids. They are replaced by the
// tenant's.

import { tenancyPrefix } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

export interface ScrubNames {
  tenant: Tenant
  namespace: string
  superNamespace: string
  /** The uids of the object that the text is about, if known. */
  uid?: string | undefined
  superUID?: string | undefined
}

export function scrubText(text: string, names: ScrubNames): string {
  const { tenant, namespace, superNamespace, uid, superUID } = names
  let result = text.replaceAll(superNamespace, namespace)
  if (superUID !== undefined && uid !== undefined) result = result.replaceAll(superUID, uid)
  // Extended resources of the tenant's nodes.
  result = result.replaceAll(`.${tenant.clusterKey}.${tenancyPrefix}/`, "/")
  return result.replaceAll(`${tenant.clusterKey}-`, "").replaceAll(tenant.clusterKey, "")
}

/** Returns the value with scrubbed "message" fields; shares unchanged parts. */
export function scrubMessages<T>(value: T, names: ScrubNames): T {
  if (Array.isArray(value)) {
    const items = value.map((item) => scrubMessages<unknown>(item, names))
    return items.some((item, index) => item !== value[index]) ? (items as T) : value
  }
  if (typeof value !== "object" || value === null) return value
  const changed = new Map<string, unknown>()
  for (const [key, field] of Object.entries(value)) {
    const scrubbed =
      key === "message" && typeof field === "string" ? scrubText(field, names) : scrubMessages<unknown>(field, names)
    if (scrubbed !== field) changed.set(key, scrubbed)
  }
  return changed.size === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}
