// A gateway's storage: its records and keys, and a store for each control plane. On LevelDB it belongs to one process
// (data-directory.ts); on etcd any number of gateways share it (etcd-storage.ts).

import type { StoreQuota } from "../../storage/quota.ts"
import type { BaseLayer, Store } from "../../storage/types.ts"
import type { KeyFiles } from "../pki/key-files.ts"

export interface GatewayStorage extends AsyncDisposable {
  /** The gateway's own records. */
  readonly store: Store
  readonly keys: KeyFiles
  /** The uid for a new tenant, which has never been used. */
  newUid(): string
  /** Gives back what has been prepared for a uid that no store has been opened for. Undefined: nothing is prepared. */
  unused?(uid: string): Promise<void>
  /** `uid`: that of a tenant, or superUid. */
  openStore(uid: string, base: BaseLayer, options?: StoreOptions): Promise<Store>
  /** Removes all data of a control plane, whose store must be closed. */
  removeStore(uid: string): Promise<void>
  /** Waits until this is the only process that serves the super cluster's store. Throws StartError. */
  holdSuperCluster?(): Promise<AbortSignal>
  /** Undefined: no other process writes to it. */
  readonly others?: OtherGateways
}

export interface StoreOptions {
  quota?: StoreQuota
  /** It has been opened before: if it is missing, it is not created but Corrupt. On etcd nothing is created in any case. */
  exists?: boolean
}

/** Changes by other gateways to stores that are closed here. */
export interface OtherGateways {
  /** Called when a store that is not open here has changed; "": any of them may have. */
  onChange(listener: (uid: string) => void): void
  /** The last observed change to a store that is closed here, as a revision; 0: none was observed. */
  lastChange(uid: string): number
  /** The store has been removed. */
  forget(uid: string): void
}
