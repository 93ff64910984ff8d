// What all controllers are started with.

import type { CertificateSigner } from "../client/certificate-signer.ts"
import type { Clock } from "../client/clock.ts"
import type { Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { Tenants } from "../client/tenants.ts"
import type { Activity } from "./activity.ts"
import type { AggregatedResources } from "./aggregated/aggregated-resources.ts"
import type { FailedKeys } from "./failed-keys.ts"
import type { Informers } from "./informers.ts"

/** Settings for which kube-controller-manager has flags. */
export interface ControllerLimits {
  /** Number of finished pods kept per control plane (--terminated-pod-gc-threshold). */
  finishedPods: number
  /** How long a Secret with an unused token is kept (--legacy-service-account-token-clean-up-period). */
  unusedTokenMs: number
  /** How often each autoscaler is reconciled (--horizontal-pod-autoscaler-sync-period). */
  autoscalerPeriodMs: number
}

export const defaultLimits: ControllerLimits = {
  finishedPods: 12_500,
  unusedTokenMs: 365 * 86_400_000,
  autoscalerPeriodMs: 15_000,
}

export interface ControllerContext {
  tenants: Tenants
  informers: Informers
  /** Of the tenants' aggregated APIs. */
  aggregated: AggregatedResources
  clock: Clock
  log: Log
  /** Stops all controllers. */
  signal: AbortSignal
  /** PEM of the CA of the tenants' API. */
  rootCertificateAuthority: string
  /** Signs with the tenants' own certificate authorities; undefined if this process does not have their keys. */
  signer?: CertificateSigner
  /** Number of keys processed at the same time, per controller. */
  workers: number
  activity: Activity
  failed: FailedKeys
  limits: ControllerLimits
  /** Counts the queues. */
  metrics?: ClientMetrics | undefined
}

/** Starts a controller; resolves when the context's signal has ended and its last reconcile is done. */
export type RunController = (ctx: ControllerContext) => Promise<void>
