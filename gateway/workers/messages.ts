// The calls between the primary and its workers. Both run the same program from the same start, so there is no version.

import type { Tenant, TenantIdentity } from "../../client/tenants.ts"
import type { TenantRecord } from "../tenancy/tenant-record.ts"
import type { AdvertisedAddress } from "../control-plane/kubernetes-service.ts"
import type { GatewayLimits } from "../options.ts"
import type { Route } from "./routes.ts"

/** The configuration of a worker at its start. */
export interface WorkerSetup<C = unknown> {
  /** Its number, unique among all workers since the start of the primary, including those that have ended. */
  self: number
  dataDir: string
  /** The directory of the private sockets. */
  socketDirectory: string
  secret: string
  url: string
  advertised: AdvertisedAddress
  domain?: string
  serviceRanges: readonly string[]
  allowedNetworks: readonly string[]
  limits: Partial<GatewayLimits>
  http2: boolean
  /** The configuration of the components around the gateway (cli/up/worker.mjs). */
  composition: C
}

/** Calls that a worker handles, in order. */
export type WorkerCalls = {
  start: [WorkerSetup, void]
  /** First all routes, before any connection is sent; then the changed ones. */
  route: [{ set: Route[]; gone: string[] }, void]
  /** Assigns existing tenants to this worker. Returns the names of those that could not be adopted, and may be once more. */
  adopt: [TenantRecord[], string[]]
  /** Creates a tenant. Resolves when it is ready. */
  create: [TenantRecord, void]
  /** Settings of a tenant have changed. */
  adjust: [Tenant, void]
  /** Resolves when all data of the tenant has been deleted from disk. */
  remove: [string, void]
  /** Returns false if the tenant is in use and stays. Otherwise it is closed. */
  release: [string, boolean]
  /** Returns as soon as the event loop gets to it (heartbeat.ts). */
  beat: [undefined, void]
  /** In Prometheus' format. */
  metrics: [undefined, string]
  /** Shuts down gracefully; then the process exits. */
  stop: [undefined, void]
}

/** Calls that the primary handles. */
export type PrimaryCalls = {
  /** The address of a node's vn-agent; undefined if there is no such node. */
  agentEndpoint: [string, { host: string; port: number } | undefined]
  /** The tenant's store has been opened for the first time. Returns false if there is no such tenant, otherwise when it is recorded. */
  stored: [TenantIdentity, boolean]
}
