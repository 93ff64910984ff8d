// Extended resources that a tenant declares on its virtual nodes. In super each has a name of that tenant's own on the node
// behind it, so that super's scheduler counts them and no tenant can use or promise another's.
//   example.com/dongle  ⇄  example.com.<cluster key>.tenancy.x-k8s.io/dongle

import { tenancyPrefix } from "../../apimachinery/tenancy.ts"
import type { Tenant } from "../../client/tenants.ts"

type Quantities = Readonly<Record<string, string>>

/** Of a DNS subdomain. */
const maxDomainLength = 253
const suffix = `.${tenancyPrefix}`

/** As upstream has it: with a domain, which is not Kubernetes' own. */
export const isExtendedResource = (name: string): boolean => name.includes("/") && !name.includes("kubernetes.io/")

/** A super name, of whichever tenant. */
export const isTenantsResource = (name: string): boolean => name.split("/")[0]?.endsWith(suffix) === true

/** undefined: it would be too long. */
export function superResource(name: string, { clusterKey }: Tenant): string | undefined {
  const [domain = "", rest = ""] = name.split("/")
  const long = `${domain}.${clusterKey}${suffix}`
  return long.length > maxDomainLength ? undefined : `${long}/${rest}`
}

/** undefined: not one of this tenant's. */
export function tenantResource(name: string, { clusterKey }: Tenant): string | undefined {
  const [domain = "", rest = ""] = name.split("/")
  const own = `.${clusterKey}${suffix}`
  return domain.endsWith(own) ? `${domain.slice(0, -own.length)}/${rest}` : undefined
}

/** Of which cluster key; names of tenants' domains may have dots, keys have none. */
export const clusterKeyOfResource = (name: string): string | undefined =>
  isTenantsResource(name) ? name.split("/")[0]?.slice(0, -suffix.length).split(".").at(-1) : undefined

/** The list with other names; the same list when none differs. */
export function renamed<T extends Quantities | undefined>(list: T, rename: (name: string) => string | undefined): T {
  if (list === undefined || Object.keys(list).every((name) => (rename(name) ?? name) === name)) return list
  return Object.fromEntries(Object.entries(list).map(([name, amount]) => [rename(name) ?? name, amount])) as T
}
