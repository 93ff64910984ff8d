// What the primary and its workers ask of each other. Both are of one start of one program, so there is no version.

import type { TenantRecord } from "../tenancy/tenant-record.ts"
import type { AdvertisedAddress } from "../tenancy/kubernetes-service.ts"
import type { GatewayLimits } from "../options.ts"
import type { Route } from "./routes.ts"

/** What a worker is told at its start. */
export interface WorkerSetup<C = unknown> {
  /** Its number: unique among all workers of this start of the primary, those that have ended included. */
  self: number
  dataDir: string
  /** Where the private sockets lie. */
  socketDirectory: string
  secret: string
  url: string
  advertised: AdvertisedAddress
  domain?: string
  serviceRanges: readonly string[]
  allowedNetworks: readonly string[]
  limits: Partial<GatewayLimits>
  http2: boolean
  /** What the composition around the gateway needs (cli/up/worker.mjs). */
  composition: C
}

/** What a worker answers. In running order. */
export type WorkerCalls = {
  start: [WorkerSetup, void]
  /** Of all tenants first, before any connection is given to it; then of those that changed. */
  route: [{ set: Route[]; gone: string[] }, void]
  /** Tenants that exist, and are this worker's from now on. */
  adopt: [TenantRecord[], void]
  /** A tenant that is new. Resolves when it is ready. */
  create: [TenantRecord, void]
  /** Resolves when nothing of it is left on disk. */
  remove: [string, void]
  /** false: it is in use, and stays. Otherwise it is closed. */
  release: [string, boolean]
  /** Answered as soon as there is a turn for it (heartbeat.ts). */
  beat: [undefined, void]
  /** As Prometheus reads it. */
  metrics: [undefined, string]
  /** Ends in good order; then the process ends. */
  stop: [undefined, void]
}

/** What the primary answers. */
export type PrimaryCalls = {
  /** Where the vn-agent of a node listens. */
  agentEndpoint: [string, { host: string; port: number }]
}
