// Texts from the super cluster (event messages, container states, errors) contain super namespaces and uids. They are replaced by the
// tenant's.

import { hasReason, type StatusError } from "./status.ts"
import { tenancyPrefix, tenantConfigMapName } from "./tenancy.ts"

export interface ScrubNames {
  tenant: { clusterKey: string }
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
  // As kubelets name the ConfigMaps and Secrets that they lack.
  result = result.replaceAll(
    /"(?:tenant-)+kube-root-ca\.crt"/g,
    (name) => `"${tenantConfigMapName(name.slice(1, -1))}"`,
  )
  // Extended resources of the tenant's nodes.
  result = result.replaceAll(`.${tenant.clusterKey}.${tenancyPrefix}/`, "/")
  return result.replaceAll(`${tenant.clusterKey}-`, "").replaceAll(tenant.clusterKey, "")
}

/** Returns the value with scrubbed "message" fields; shares unchanged parts. */
export function scrubMessages<T>(value: T, names: ScrubNames): T {
  return scrubFields(value, names, (key) => key === "message")
}

/** Returns the value with all its texts scrubbed; shares unchanged parts. */
export function scrubTexts<T>(value: T, names: ScrubNames): T {
  return scrubFields(value, names, () => true)
}

/** A text in a list is in the field of the list. */
function scrubFields<T>(value: T, names: ScrubNames, isScrubbed: (key: string) => boolean, key = ""): T {
  if (typeof value === "string") return isScrubbed(key) ? (scrubText(value, names) as T) : value
  if (Array.isArray(value)) {
    const items = value.map((item) => scrubFields<unknown>(item, names, isScrubbed, key))
    return items.some((item, index) => item !== value[index]) ? (items as T) : value
  }
  if (typeof value !== "object" || value === null) return value
  const changed = new Map<string, unknown>()
  for (const [name, field] of Object.entries(value)) {
    const scrubbed = scrubFields<unknown>(field, names, isScrubbed, name)
    if (scrubbed !== field) changed.set(name, scrubbed)
  }
  return changed.size === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

/** An answer of one of these codes says something about the super cluster, or about Polyplane's access to it. */
const isOfServer = (code: number): boolean => code >= 500 || code === 401 || code === 408 || code === 429

/**
 * What a tenant is told about a write for it that has failed in the super cluster: what that says of the object, such as the words of its
 * admission, but neither where it is, nor as whom Polyplane uses it. Those who administer it read that in the log.
 */
export function tenantMessage(error: StatusError, names: ScrubNames): string {
  if (isOfServer(error.code)) return "it does not answer"
  // By RBAC; what admission forbids names no user.
  if (hasReason(error, "Forbidden") && error.message.includes(' forbidden: User "')) return "it does not permit this"
  return scrubText(error.message, names)
}
