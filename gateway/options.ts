// The options of a gateway, with all limits and what happens when they are reached.

import type { Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { PodUsageProvider } from "../client/pod-usage.ts"
import type { Tenant } from "../client/tenants.ts"
import type { VerifiedTables } from "../storage/level/files/verify.ts"
import type { StoreLimits } from "../storage/limits.ts"
import type { EtcdStorageOptions } from "./stores/etcd-storage.ts"
import type { SuperNodeDialer } from "./control-plane/node-dialer.ts"
import type { ServiceAddresses } from "./control-plane/service-addresses.ts"

export interface GatewayOptions {
  /** Not used with etcd. */
  dataDir: string
  /** Tables in the data directory that have been verified before the start. Default: none. */
  verifiedTables?: Promise<VerifiedTables>
  /** Stores all data in this etcd instead of the data directory. Any number of gateways may share it. */
  etcd?: EtcdStorageOptions
  /** Address to listen on. Default 127.0.0.1. */
  host?: string
  /** Default 0: any free port. */
  port?: number
  /** Serve a control plane at /, as the super cluster. */
  superCluster?: boolean
  /** Allocates addresses of Services; `undefined` is the super cluster. Without it Services with addresses are refused. */
  serviceAddresses?: (tenant: Tenant | undefined) => ServiceAddresses
  /** The ranges of Service addresses ("10.96.0.0/12"), which tenants see as their ServiceCIDR. Default: none is shown. */
  serviceRanges?: readonly string[]
  /** Connects to nodes of the super cluster, which `undefined` is. Without it logs, exec and similar requests are refused. */
  nodeDialer?: (tenant: Tenant | undefined) => SuperNodeDialer
  /** Measures what pods use; tenants then have the API metrics.k8s.io. Default: they have none, unless they register one. */
  podUsage?: PodUsageProvider
  /**
   * Networks and addresses, in addition to public ones, that webhook URLs and manually written endpoints of tenants may refer to
   * ("10.1.0.0/16"). Default: none.
   */
  allowedNetworks?: readonly string[]
  /** Tenants are also reached as `<name>.<domain>`. */
  domain?: string
  /** Additional names and addresses that clients use. They are included in the serving certificate. */
  hostNames?: readonly string[]
  /** The URL for clients, if it is not `https://<host>:<port>`. Included in kubeconfigs. */
  publicUrl?: string
  /**
   * The address of the Service default/kubernetes of each control plane. Default: the first address of this machine, and the port.
   */
  advertiseAddress?: string
  advertisePort?: number
  /** Offer HTTP/2 to clients that ask for it, as kube-apiserver does. Default true. */
  http2?: boolean
  limits?: Partial<GatewayLimits>
  storeLimits?: Partial<StoreLimits>
  log?: Log
  /** If set, receives one entry per request. */
  audit?: Log
  /** Metrics of API clients in this process, printed together with the gateway's. */
  clientMetrics?: ClientMetrics
  /** Determines when the gateway's own certificates are renewed. Default: the system clock. */
  clock?: Clock
}

export interface GatewayLimits {
  /** Size of all headers of a request. Beyond: 431. */
  maxHeaderBytes: number
  /** Open connections. Beyond: new ones are closed. Lower if the process may not open that many files (listener.ts). */
  maxConnections: number
  /** Concurrent requests per HTTP/2 connection, including watches. Beyond: the client waits or opens another connection. */
  maxStreams: number
  /** Memory per HTTP/2 connection: headers and queued data. Beyond: new requests on it are refused. */
  maxSessionBytes: number
  /** Duration of the TLS handshake. Beyond: the connection is closed. */
  handshakeTimeoutMs: number
  /** Time until all headers have been received. Beyond: 408. */
  headersTimeoutMs: number
  /** Time until the whole body has been received, unless a long-running request is being answered. Beyond: 408. */
  bodyTimeoutMs: number
  /** How long an idle connection stays open. */
  keepAliveMs: number
  /** Connections without a request. Beyond: connections that become idle are closed after five seconds. */
  maxIdleConnections: number
  /** Duration of a request that is not long-running. Beyond: 504. */
  requestTimeoutMs: number
  /** Duration of a write of one object, from when it is processed, with its webhooks. Beyond: 504. */
  writeTimeoutMs: number
  /** Concurrent requests per control plane, without long-running ones. Beyond: they are queued. */
  maxInFlight: number
  /** Queued requests per control plane. Beyond: 429. */
  maxWaiting: number
  /**
   * Work of a tenant's requests that held the thread for 100 ms or more at a stretch, while all others waited. A twentieth of the time pays
   * for it. Beyond: the tenant's requests wait until enough is paid, 30 seconds at most.
   */
  maxLongWorkMs: number
  /** Watches, logs, execs and other long-running requests per control plane. Beyond: 429. */
  maxLongRunning: number
  /** Objects of a tenant, including events. Beyond: creating objects is refused with 403, as by a ResourceQuota. */
  maxStoredObjects: number
  /**
   * Size of a tenant's objects as currently stored, in bytes. Beyond: writes that increase it are refused with 403. Controllers, the syncer
   * and the control plane itself keep nearly all of them in memory while the tenant is awake, where they take two to ten times as much
   * (measured: roles 2.5, bindings 6, definitions with rules 10), so this is also what one tenant may take of the process's memory.
   */
  maxStoredBytes: number
  /** Services of a tenant that have an address in the super cluster, over all its namespaces. Beyond: 403. */
  maxServices: number
  /** Node ports of a tenant, over all its namespaces. Kubernetes has 2,768 for all. Beyond: 403. */
  maxNodePorts: number
  /**
   * Namespaces of a tenant, which cost the super cluster several objects each, whatever is in them. Beyond: 403. The syncer copies at most
   * 10,000 (syncer/options.ts) unless the tenant's own quota says more.
   */
  maxNamespaces: number
  /**
   * How long Events are kept after they were last written, as with --event-ttl of kube-apiserver, and up to a twentieth longer. A sleeping
   * tenant is woken to delete them.
   */
  eventTtlMs: number
  /** Bytes beyond maxStoredBytes for objects that are being deleted, since deletion writes finalizers and conditions. */
  storedBytesReserve: number
  /**
   * Objects of an unlimited list that must be collected before the response is sent: tables, metadata, YAML. Beyond: 413. Whole
   * objects in JSON and protobuf are streamed, without a limit.
   */
  maxGatheredObjects: number
  /** The size of these objects as they are stored, in bytes. Beyond: 413. */
  maxGatheredBytes: number
  /** Size of a request body in bytes. Beyond: 413. */
  maxBodyBytes: number
  /** Time that requests in progress have during shutdown. */
  shutdownMs: number
  /** The first request of a tenant waits this long for its first Service; what is missing then is created in the background. */
  tenantReadyMs: number
  /** A tenant that is unused for this long falls asleep: its store is closed and its caches are dropped. */
  tenantIdleMs: number
  /** Awake tenants. Beyond: the least recently used tenants without work in progress fall asleep earlier. */
  maxAwakeTenants: number
  /**
   * Estimated memory of all awake tenants: resident parts of their stores, caches and watchers; 0.7 MiB for a tenant with 20
   * objects. Beyond: the least recently used tenants without work in progress fall asleep earlier.
   */
  maxAwakeBytes: number
  /** Control planes that watches over all tenants open or list at the same time. Beyond: they are queued. */
  maxOpening: number
  /** Bytes that the clients of all watches of a control plane have not taken. Beyond: those that have waited longest are disconnected. */
  maxUnreadWatchBytes: number
  /**
   * Bytes that all forwarded streams of a control plane hold because one side does not take them: logs, execs, port-forwards, requests
   * and answers of proxies and aggregated APIs. Beyond: those that have waited longest are disconnected.
   */
  maxUnsentBytes: number
  /** Bytes that a multi-tenant watch may lag behind. Beyond: the connection is closed, and the client starts again. */
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
  writeTimeoutMs: 34_000, // k8s.io/apiserver/pkg/endpoints/handlers/rest.go (requestTimeoutUpperBound)
  maxInFlight: 200,
  maxWaiting: 1000,
  maxLongWorkMs: 10_000,
  maxLongRunning: 5000,
  maxGatheredObjects: 50_000,
  maxGatheredBytes: 32 * MiB,
  maxStoredObjects: 1_000_000,
  maxStoredBytes: 256 * MiB,
  maxServices: 5_000,
  maxNodePorts: 500,
  maxNamespaces: 5_000,
  eventTtlMs: 3_600_000,
  storedBytesReserve: 1 * MiB,
  maxBodyBytes: 3 * MiB,
  shutdownMs: 5_000,
  tenantReadyMs: 3_000,
  tenantIdleMs: 60_000,
  maxAwakeTenants: 1000,
  maxAwakeBytes: 512 * MiB,
  maxOpening: 4,
  maxUnreadWatchBytes: 64 * MiB,
  maxUnsentBytes: 64 * MiB,
  maxWatchBacklogBytes: 64 * MiB,
}
