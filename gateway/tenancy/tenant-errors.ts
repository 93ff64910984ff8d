// Errors about tenants, as about any other resource.

import { alreadyExists, notFound, type StatusError } from "../../apimachinery/status.ts"

const tenants = { group: "", resource: "tenants" }

export function noSuchTenant(name: string): StatusError {
  return notFound(tenants, name)
}

export function tenantExists(name: string): StatusError {
  return alreadyExists(tenants, name)
}
