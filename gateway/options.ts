// What a gateway can be told, with every limit by name and what happens at it.

import type { Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { Tenant } from "../client/tenants.ts"
import type { StoreLimits } from "../storage/limits.ts"
import type { EtcdStorageOptions } from "./tenancy/etcd-storage.ts"
import type { NodeDialer } from "./tenancy/node-dialer.ts"
import type { ServiceAddresses } from "./tenancy/service-addresses.ts"

export interface GatewayOptions {
  /** Not used with etcd. */
  dataDir: string
  /** Everything is kept in this etcd instead of the data directory, which any number of gateways may share. */
  etcd?: EtcdStorageOptions
  /** Address to listen on. Default 127.0.0.1. */
  host?: string
  /** Default 0: any free one. */
  port?: number
  /** Serve a control plane at /, as the super cluster. */
  superCluster?: boolean
  /** Where addresses of Services come from; `undefined` is the super cluster. Without it they are refused. */
  serviceAddresses?: (tenant: Tenant | undefined) => ServiceAddresses
  /** What addresses of Services are of ("10.96.0.0/12"): tenants see them as their ServiceCIDR. Default: none is shown. */
  serviceRanges?: readonly string[]
  /** How nodes are reached; `undefined` is the super cluster. Without it logs, exec and the like are refused. */
  nodeDialer?: (tenant: Tenant | undefined) => NodeDialer
  /**
   * Networks and addresses, beyond public ones, that tenants' webhook URLs and hand-written endpoints may lead to
   * ("10.1.0.0/16"). Default: none.
   */
  allowedNetworks?: readonly string[]
  /** Tenants are also reached as `<name>.<domain>`. */
  domain?: string
  /** Further names and addresses clients use: they go into the serving certificate. */
  hostNames?: readonly string[]
  /** How clients reach the gateway, when it is not `https://<host>:<port>`. Goes into kubeconfigs. */
  publicUrl?: string
  /** Where the Service default/kubernetes of each control plane leads. Default: this machine's first address, and the port. */
  advertiseAddress?: string
  advertisePort?: number
  /** Offer HTTP/2 to clients that ask for it, as kube-apiserver does. Default true. */
  http2?: boolean
  limits?: Partial<GatewayLimits>
  storeLimits?: Partial<StoreLimits>
  log?: Log
  /** One entry per request when set. */
  audit?: Log
  /** What clients of the API servers count in this process: printed with what the gateway counts. */
  clientMetrics?: ClientMetrics
  /** When certificates of the gateway's own have to be renewed. Default: the system's. */
  clock?: Clock
}

export interface GatewayLimits {
  /** All headers of a request. Beyond: 431. */
  maxHeaderBytes: number
  /** Open connections. Beyond: new ones are closed. Fewer, where the process may not open so many files (listener.ts). */
  maxConnections: number
  /** Requests at the same time on one connection of HTTP/2, watches included. Beyond: the client waits, or connects once more. */
  maxStreams: number
  /** Memory of one connection of HTTP/2: headers and what waits to be sent. Beyond: new requests on it are refused. */
  maxSessionBytes: number
  /** The TLS handshake. Beyond: the connection is closed. */
  handshakeTimeoutMs: number
  /** Until all headers are there. Beyond: 408. */
  headersTimeoutMs: number
  /** Until the whole body is there. Beyond: 408. */
  bodyTimeoutMs: number
  /** An idle connection stays open this long. */
  keepAliveMs: number
  /** Connections without a request. Beyond it those that become idle are closed after five seconds. */
  maxIdleConnections: number
  /** A request that is not long-running. Beyond: 504. */
  requestTimeoutMs: number
  /** Requests of one control plane worked on at the same time, without long-running ones. Beyond: they wait. */
  maxInFlight: number
  /** Requests of one control plane waiting for their turn. Beyond: 429. */
  maxWaiting: number
  /** Watches, logs, execs and other long-running requests of one control plane. Beyond: 429. */
  maxLongRunning: number
  /** Objects a tenant may have, events and all. Beyond: what would add one is refused with 403, as by a ResourceQuota. */
  maxStoredObjects: number
  /** Bytes of a tenant's objects, as they are stored now. Beyond: what would add some is refused with 403. */
  maxStoredBytes: number
  /** Bytes beyond maxStoredBytes for objects that are being deleted: finalizers and conditions are written on the way out. */
  storedBytesReserve: number
  /**
   * Objects of a list without a limit that has to be put together before it is answered: tables, metadata, YAML. Beyond: 413.
   * Whole objects in JSON and protobuf go out as they are read, however many there are.
   */
  maxGatheredObjects: number
  /** Body of a request. Beyond: 413. */
  maxBodyBytes: number
  /** At the end, requests under way get this long. */
  shutdownMs: number
  /** Who uses a tenant first waits this long for its first Service; what is not there then is made in the background. */
  tenantReadyMs: number
  /** A tenant nobody has used for so long falls asleep: its store is closed, its caches are dropped. */
  tenantIdleMs: number
  /** Awake tenants. Beyond it those used longest ago fall asleep earlier, as far as nothing is under way in them. */
  maxAwakeTenants: number
  /**
   * Memory that the process holds for all awake tenants together, estimated from what each keeps of its store, in its caches and
   * with those who follow it: 0.7 MiB for one of 20 objects. Beyond it those used longest ago fall asleep earlier, as far as nothing
   * is under way in them.
   */
  maxAwakeBytes: number
  /** Control planes opened or listed at the same time by watches over all tenants. Beyond: they wait. */
  maxOpening: number
  /** Bytes a multi-tenant watch may be behind its client. Beyond: the connection is closed, the client starts anew. */
  maxWatchBacklogBytes: number
}

const MiB = 1024 * 1024

export const defaultLimits: Readonly<GatewayLimits> = {
  maxHeaderBytes: 64 * 1024,
  maxConnections: 20_000,
  maxStreams: 250,
  maxSessionBytes: 64 * MiB,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 30_000,
  bodyTimeoutMs: 300_000,
  keepAliveMs: 120_000,
  maxIdleConnections: 1000,
  requestTimeoutMs: 60_000,
  maxInFlight: 200,
  maxWaiting: 1000,
  maxLongRunning: 5000,
  maxGatheredObjects: 50_000,
  maxStoredObjects: 1_000_000,
  maxStoredBytes: 2048 * MiB,
  storedBytesReserve: 1 * MiB,
  maxBodyBytes: 3 * MiB,
  shutdownMs: 5_000,
  tenantReadyMs: 3_000,
  tenantIdleMs: 60_000,
  maxAwakeTenants: 1000,
  maxAwakeBytes: 512 * MiB,
  maxOpening: 4,
  maxWatchBacklogBytes: 64 * MiB,
}
