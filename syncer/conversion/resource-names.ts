// Extended resources that a tenant declares on its virtual nodes. On the super node behind a virtual node each gets a name of the
// tenant's own, so that super's scheduler counts it, and no tenant can use or declare another's.
//   example.com/dongle  ⇄  example.com.<cluster key>.tenancy.x-k8s.io/dongle

import { tenancyPrefix } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

type Quantities = Readonly<Record<string, string>>

/** Maximum length of a DNS subdomain. */
const maxDomainLength = 253
const suffix = `.${tenancyPrefix}`

/** As in upstream: with a domain other than Kubernetes' own. */
export const isExtendedResource = (name: string): boolean => name.includes("/") && !name.includes("kubernetes.io/")

/** Whether it is the super name of any tenant's resource. */
export const isTenantsResource = (name: string): boolean => name.split("/")[0]?.endsWith(suffix) === true

/** Returns undefined if the name would be too long. */
export function superResource(name: string, { clusterKey }: Tenant): string | undefined {
  const [domain = "", rest = ""] = name.split("/")
  const long = `${domain}.${clusterKey}${suffix}`
  return long.length > maxDomainLength ? undefined : `${long}/${rest}`
}

/** No node has it. Used for resources whose super names would be too long: their own may be the super names of another tenant's. */
const nobodys = `too-long.${tenancyPrefix}/resource`

export const ownName = (name: string, tenant: Tenant): string => superResource(name, tenant) ?? nobodys

/** Returns undefined if the resource is not this tenant's. */
export function tenantResource(name: string, { clusterKey }: Tenant): string | undefined {
  const [domain = "", rest = ""] = name.split("/")
  const own = `.${clusterKey}${suffix}`
  return domain.endsWith(own) ? `${domain.slice(0, -own.length)}/${rest}` : undefined
}

/** The cluster key in a super name; tenants' domains may contain dots, keys cannot. */
export const clusterKeyOfResource = (name: string): string | undefined =>
  isTenantsResource(name) ? name.split("/")[0]?.slice(0, -suffix.length).split(".").at(-1) : undefined

/** The list with renamed resources; the same list if no name changes. */
export function renamed<T extends Quantities | undefined>(list: T, rename: (name: string) => string | undefined): T {
  if (list === undefined || Object.keys(list).every((name) => (rename(name) ?? name) === name)) return list
  return Object.fromEntries(Object.entries(list).map(([name, amount]) => [rename(name) ?? name, amount])) as T
}
