// The settings of a tenant that may change while it is served. The gateway changes them in its Tenant object, which everything in
// the process shares: whoever reads them at each use has the current ones.

import { equalJson } from "../apimachinery/equality.ts"
import type { Tenant } from "./tenants.ts"

export type TenantSettings = Pick<Tenant, "controllers" | "quota">

export function settingsOf({ controllers, quota }: TenantSettings): TenantSettings {
  return { controllers, ...(quota === undefined ? {} : { quota }) }
}

export function hasSettings(tenant: TenantSettings, wanted: TenantSettings): boolean {
  return equalJson(settingsOf(tenant), settingsOf(wanted))
}

export function applySettings(tenant: TenantSettings, { controllers, quota }: TenantSettings): void {
  tenant.controllers = controllers
  if (quota === undefined) delete tenant.quota
  else tenant.quota = quota
}
