// Validates the name of a new tenant and creates its record.

import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { validateDNS1123Label } from "../../apimachinery/names.ts"
import { timestamp } from "../../apimachinery/object.ts"
import { invalid } from "../../apimachinery/status.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { TenantRecord } from "./tenant-record.ts"

/** The record of a new tenant. */
export function newRecord(request: Omit<Tenant, "uid">, uid: string, issuer: string): TenantRecord {
  return { tenant: { ...request, uid }, createdAt: timestamp(), state: "active", issuer }
}

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
