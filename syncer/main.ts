// Entry point of the syncer: takes options and returns a running syncer. cli/ composes it with the tenants and the super cluster.

import type { SyncerOptions } from "./options.ts"
import { Syncer } from "./syncer.ts"

export type { NodeEndpoint, SyncerOptions, SyncSettings } from "./options.ts"
export { Syncer } from "./syncer.ts"
export { SuperPodUsage } from "./pod-usage.ts"
export { createServiceAddresses } from "./service-addresses.ts"
export { SuperNamespaces } from "./super-namespaces.ts"

/** Resolves when started. The super cluster need not be reachable: Syncer.whenSynced() resolves when it has been listed. */
export async function startSyncer(options: SyncerOptions): Promise<Syncer> {
  return Syncer.start(options)
}
