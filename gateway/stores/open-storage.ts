// Opens the storage that a gateway's options name.

import type { GatewayOptions } from "../options.ts"
import { DataDirectory } from "./data-directory.ts"
import type { GatewayStorage } from "./storage.ts"

/** Throws StartError. */
export async function openGatewayStorage(options: GatewayOptions): Promise<GatewayStorage> {
  const { etcd, dataDir, verifiedTables, storeLimits, log, clock } = options
  if (etcd === undefined) return DataDirectory.open(dataDir, storeLimits, { ahead: verifiedTables, log })
  // Imported only if used, to save time and memory.
  const { EtcdStorage } = await import("./etcd-storage.ts")
  return EtcdStorage.open(etcd, storeLimits, { log, clock })
}
