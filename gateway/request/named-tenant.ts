// The tenant that a URL names: by path, /tenants/<name>/…, or by host, <name>.<domain>, in the Host header or as the TLS server
// name. Pure. If the URL names none, the credential determines the tenant (tenancy/tenant-resolver.ts).

import type { IncomingHttpHeaders } from "node:http"
import { tenantUIDHeader, tenantUseHeader, type TenantUse } from "../../client/tenants.ts"

export interface NamedTenant {
  /** Undefined if the URL names no tenant. */
  name: string | undefined
  /** Path and host name different tenants, which is answered as an unknown tenant. */
  contradictory: boolean
  /** The path within the control plane. */
  path: string
}

const prefix = "/tenants/"

export function namedTenant(
  path: string,
  host: string | undefined,
  serverName: string | undefined,
  domain: string | undefined,
): NamedTenant {
  const names = new Set<string>()
  let rest = path
  if (path.startsWith(prefix)) {
    const end = path.indexOf("/", prefix.length)
    names.add(path.slice(prefix.length, end < 0 ? undefined : end))
    rest = end < 0 ? "/" : path.slice(end)
  }
  for (const candidate of [host, serverName]) {
    const name = hostTenant(candidate, domain)
    if (name !== undefined) names.add(name)
  }
  const [name] = names
  return { name, contradictory: names.size > 1, path: rest }
}

/** The uid of the tenant that an administrator's request is meant for, if it says so: the name may be another tenant's by now. */
export function meantUID({ headers }: { headers: IncomingHttpHeaders }): string | undefined {
  const uid = headers[tenantUIDHeader]
  return typeof uid === "string" ? uid : undefined
}

/** Whether an administrator's request is use of the tenant: that of a part of Polyplane may say that it is none. */
export function useOf({ headers }: { headers: IncomingHttpHeaders }): Required<TenantUse> {
  return { isUse: headers[tenantUseHeader] !== "none" }
}

function hostTenant(host: string | undefined, domain: string | undefined): string | undefined {
  if (host === undefined || domain === undefined) return undefined
  const suffix = `.${domain.toLowerCase()}`
  const bare = host.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "")
  if (!bare.endsWith(suffix)) return undefined
  const name = bare.slice(0, -suffix.length)
  return name === "" || name.includes(".") ? undefined : name
}
