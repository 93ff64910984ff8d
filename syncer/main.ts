// Entry point of the syncer: takes options and returns a running syncer. cli/ composes it with the tenants and the super cluster.

import type { SyncerOptions } from "./options.ts"
import type { Syncer } from "./syncer.ts"

export type { NodeEndpoint, SyncerOptions, SyncSettings } from "./options.ts"
export type { Syncer } from "./syncer.ts"
export { SuperPodUsage } from "./pod-usage.ts"
export { createServiceAddresses } from "./service-addresses.ts"
export { SuperNamespaces } from "./super-namespaces.ts"

/**
 * Loads the syncer, so that a gateway that uses the above alone does not, or serves before. Resolves when started. The super cluster need not be reachable: Syncer.whenSynced()
 * resolves when it has been listed.
 */
export async function startSyncer(options: SyncerOptions): Promise<Syncer> {
  const { Syncer } = await import("./syncer.ts")
  return Syncer.start(options)
}
