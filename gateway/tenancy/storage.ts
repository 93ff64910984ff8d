// Where a gateway keeps everything: its records and keys, and a store for each control plane. On LevelDB it is one process's
// own (data-directory.ts), on etcd any number of gateways share it (etcd-storage.ts).

import type { StoreQuota } from "../../storage/quota.ts"
import type { BaseLayer, Store } from "../../storage/types.ts"
import type { GatewayOptions } from "../options.ts"
import { DataDirectory } from "./data-directory.ts"
import type { KeyFiles } from "../pki/key-files.ts"

export interface GatewayStorage extends AsyncDisposable {
  /** The gateway's own records. */
  readonly store: Store
  readonly keys: KeyFiles
  /** Of a tenant that is made now: never given before. */
  newUid(): string
  /** `uid`: of a tenant, or superUid. */
  openStore(uid: string, base: BaseLayer, quota?: StoreQuota): Promise<Store>
  /** Removes all there is of a control plane; its store is closed here. */
  removeStore(uid: string): Promise<void>
  /** The super cluster's store is served by one process alone: waits for that, and fails with StartError. */
  holdSuperCluster?(): Promise<AbortSignal>
  /** Undefined: nobody else writes to it. */
  readonly others?: OtherGateways
}

/** What other gateways do to stores that are closed here. */
export interface OtherGateways {
  /** Told when a store that is not open here has changed; "": any may have. */
  onChange(listener: (uid: string) => void): void
  /** The revision at which a store that is closed here changed last, as far as that was seen; 0: not seen. */
  lastChange(uid: string): number
  /** The store has been removed. */
  forget(uid: string): void
}

/** Fails with StartError. */
export async function openGatewayStorage(options: GatewayOptions): Promise<GatewayStorage> {
  const { etcd, dataDir, storeLimits, log, clock } = options
  if (etcd === undefined) return DataDirectory.open(dataDir, storeLimits)
  // Loaded only where it is used: it takes its time and memory.
  const { EtcdStorage } = await import("./etcd-storage.ts")
  return EtcdStorage.open(etcd, storeLimits, { log, clock })
}
