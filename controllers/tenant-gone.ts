// Work for a tenant that is being deleted fails with NotFound for the tenant itself.

import { isNotFound } from "../apimachinery/status.ts"

export function isTenantGone(error: unknown): boolean {
  return isNotFound(error) && error.status.details?.kind === "virtualclusters"
}
