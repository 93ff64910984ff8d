// Tells of changes of what may refuse writes to a tenant: its webhooks and policies. What failed because of them is tried again then,
// and not only when its delay has passed.

import { admissionResources } from "./resources.ts"
import type { Tenants } from "./tenants.ts"

/** Calls `changed` also while the tenant's objects are being delivered. */
export function watchAdmission(
  tenants: Pick<Tenants, "watch">,
  changed: (tenant: string) => void,
  signal: AbortSignal,
): void {
  const ignored = (): void => undefined
  const handler = {
    event: ({ tenant }: { tenant: string }) => changed(tenant),
    synced: ignored,
    removed: ignored,
    restarted: ignored,
  }
  for (const resource of admissionResources) tenants.watch(resource, handler, signal)
}
