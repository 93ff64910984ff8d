// What `polyplane up` can be told, after its flags have been read (command.ts).

import type { Log } from "../../client/log.ts"
import type { GatewayLimits } from "../../gateway/options.ts"
import type { VerifiedTables } from "../../storage/level/files/verify.ts"
import type { EtcdStorageOptions } from "../../gateway/stores/etcd-storage.ts"
import type { LogLevel } from "../log/log.ts"

export interface AllInOneOptions {
  dataDir: string
  /** Tables in it that need not be verified any more (verified-tables.ts). Default: none. */
  verifiedTables?: Promise<VerifiedTables>
  host: string
  port: number
  domain?: string
  /** The address at which pods reach this process; default: this machine's address. */
  advertiseAddress?: string
  /** Number of nodes of the simulated super cluster. */
  nodes: number
  /** Kubeconfig of a real super cluster, which replaces the simulated one. */
  superKubeconfig?: string
  limits?: Partial<GatewayLimits>
  /** Networks that are not public, for webhooks and own nodes of tenants. Those of this machine are added if it listens on loopback. */
  allowedNetworks?: readonly string[]
  /** Stores all data in etcd instead of the data directory. With a real super cluster, several processes may share it. */
  etcd?: EtcdStorageOptions
  /** Offers HTTP/2. Default true. */
  http2?: boolean
  /** If greater than one, the tenants are distributed over this many worker processes. */
  workers: number
  logLevel: LogLevel
  log: Log
  /** File to append an entry per request to, or "-". */
  auditLog?: string
}
