// Errors about tenants, as about any other resource.

import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../apimachinery/names.ts"
import { alreadyExists, invalid, notFound, type StatusError } from "../../apimachinery/status.ts"

const tenants = { group: "", resource: "tenants" }

export function noSuchTenant(name: string): StatusError {
  return notFound(tenants, name)
}

export function tenantExists(name: string): StatusError {
  return alreadyExists(tenants, name)
}

/** Throws Invalid. */
export function checkTenantName(name: string): void {
  const faults = validateDNS1123Label(name)
  if (faults.length === 0) return
  const path = FieldPath.root("metadata", "name")
  throw invalid(
    { group: "tenancy.x-k8s.io", kind: "VirtualCluster" },
    name,
    faults.map((fault) => invalidValue(path, name, fault)),
  )
}
