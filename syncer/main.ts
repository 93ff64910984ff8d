// Entry point of the syncer: options in, a running syncer out. cli/ composes it with what it works on.

import type { SyncerOptions } from "./options.ts"
import { Syncer } from "./syncer.ts"

export type { SyncerOptions, SyncSettings } from "./options.ts"
export { Syncer } from "./syncer.ts"
export { createServiceAddresses } from "./service-addresses.ts"

/** Resolves when started, which does not need the super cluster to be reachable: Syncer.whenSynced() tells when it was. */
export async function startSyncer(options: SyncerOptions): Promise<Syncer> {
  return Syncer.start(options)
}
