// The controllers of kube-controller-manager, for all tenants in one process. The list below is complete; each controller is a
// folder with a reconcile(key) over the shared informers.

import { dictionary } from "../apimachinery/dictionary.ts"
import type { CertificateSigner } from "../client/certificate-signer.ts"
import { systemClock, type Clock } from "../client/clock.ts"
import { silentLog, type Log } from "../client/log.ts"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import type { Tenants } from "../client/tenants.ts"
import { Activity } from "./activity.ts"
import { AggregatedResources } from "./aggregated/aggregated-resources.ts"
import { runAutoscalers } from "./autoscaler/autoscaler.ts"
import { runCertificateApproving } from "./certificates/approving.ts"
import { runCertificateCleaning } from "./certificates/cleaning.ts"
import { runCertificateSigning } from "./certificates/signing.ts"
import { runClusterRoleAggregation } from "./clusterrole-aggregation/clusterrole-aggregation.ts"
import { type ControllerContext, type ControllerLimits, type RunController, defaultLimits } from "./context.ts"
import { runCronJobs } from "./cronjob/cronjob.ts"
import { runDaemonSets } from "./daemonset/daemonset.ts"
import { runDeployments } from "./deployment/deployment.ts"
import { runDeviceTaints } from "./device-taints/device-taints.ts"
import { runDisruption } from "./disruption/disruption.ts"
import { runEndpoints } from "./endpoints/endpoints.ts"
import { runEndpointSlices } from "./endpointslice/endpointslice.ts"
import { runEndpointSliceMirroring } from "./endpointslice/mirroring.ts"
import { runEphemeralVolumes } from "./ephemeral-volume/ephemeral-volume.ts"
import { FailedKeys } from "./failed-keys.ts"
import { runGarbageCollector } from "./garbage-collector/garbage-collector.ts"
import { Informers } from "./informers.ts"
import { runJobs } from "./job/job.ts"
import { runTtlAfterFinished } from "./job/ttl-after-finished.ts"
import { runLeaseCleaning } from "./lease-cleaning/lease-cleaning.ts"
import { managedTenants } from "./managed-tenants.ts"
import { runNamespaces } from "./namespace/namespace.ts"
import { runNodeLifecycle } from "./node-lifecycle/node-lifecycle.ts"
import { runTaintEviction } from "./node-lifecycle/taint-eviction.ts"
import { runNodeTtl } from "./node-ttl/node-ttl.ts"
import { runPodGarbageCollector } from "./podgc/podgc.ts"
import { runReplicaSets, runReplicationControllers } from "./replicaset/replicaset.ts"
import { runResourceClaims } from "./resource-claim/resource-claim.ts"
import { runResourceQuotas } from "./resourcequota/resourcequota.ts"
import { runIPAddresses } from "./service-cidr/ip-addresses.ts"
import { runServiceCIDRs } from "./service-cidr/service-cidr.ts"
import { runServiceAccountTokens } from "./serviceaccount/tokens.ts"
import { runRootCertificates, runServiceAccounts } from "./serviceaccount/serviceaccount.ts"
import { runUnusedTokens } from "./serviceaccount/unused-tokens.ts"
import { runStatefulSets } from "./statefulset/statefulset.ts"
import { runAdmissionPolicyStatus } from "./validating-admission-policy/status.ts"
import { runVolumeBinding } from "./volume-binding/volume-binding.ts"
import { runVolumeExpansion } from "./volume-expansion/volume-expansion.ts"
import {
  runAttributesProtection,
  runClaimProtection,
  runVolumeProtection,
} from "./volume-protection/volume-protection.ts"

const controllers: Readonly<Record<string, RunController>> = dictionary({
  namespace: runNamespaces,
  serviceaccount: runServiceAccounts,
  "serviceaccount-token": runServiceAccountTokens,
  "legacy-serviceaccount-token-cleaner": runUnusedTokens,
  "root-ca-certificate-publisher": runRootCertificates,
  deployment: runDeployments,
  replicaset: runReplicaSets,
  replicationcontroller: runReplicationControllers,
  statefulset: runStatefulSets,
  daemonset: runDaemonSets,
  cronjob: runCronJobs,
  job: runJobs,
  "ttl-after-finished": runTtlAfterFinished,
  disruption: runDisruption,
  "horizontal-pod-autoscaler": runAutoscalers,
  "node-lifecycle": runNodeLifecycle,
  "taint-eviction": runTaintEviction,
  "device-taint-eviction": runDeviceTaints,
  "node-ttl": runNodeTtl,
  "pod-garbage-collector": runPodGarbageCollector,
  endpoints: runEndpoints,
  endpointslice: runEndpointSlices,
  "endpointslice-mirroring": runEndpointSliceMirroring,
  "service-cidr": runServiceCIDRs,
  "ip-address": runIPAddresses,
  resourcequota: runResourceQuotas,
  "ephemeral-volume": runEphemeralVolumes,
  "persistentvolume-binder": runVolumeBinding,
  "persistentvolume-expander": runVolumeExpansion,
  "persistentvolumeclaim-protection": runClaimProtection,
  "persistentvolume-protection": runVolumeProtection,
  "volumeattributesclass-protection": runAttributesProtection,
  "resource-claim": runResourceClaims,
  "certificatesigningrequest-approving": runCertificateApproving,
  "certificatesigningrequest-signing": runCertificateSigning,
  "certificatesigningrequest-cleaner": runCertificateCleaning,
  "clusterrole-aggregation": runClusterRoleAggregation,
  "validatingadmissionpolicy-status": runAdmissionPolicyStatus,
  "apiserver-lease-cleaning": runLeaseCleaning,
  // Last, so that it uses the informers of the others.
  "garbage-collector": runGarbageCollector,
})

export const controllerNames: readonly string[] = Object.keys(controllers)

export interface ControllersOptions {
  /** PEM of the CA of the tenants' API, the content of kube-root-ca.crt. */
  rootCertificateAuthority: string
  /** Signs with the tenants' own certificate authorities; without it CertificateSigningRequests are not signed. */
  signer?: CertificateSigner
  /** Some of {@link controllerNames}; default: all. */
  only?: readonly string[]
  /** Default: {@link defaultLimits}. */
  limits?: Partial<ControllerLimits>
  clock?: Clock
  log?: Log
  /** Counts their queues. */
  metrics?: ClientMetrics | undefined
}

/** Keys that are processed at the same time, per controller. */
const workers = 16

/** Runs until disposed. Disposal resolves when no reconcile is running. */
export function startControllers(tenants: Tenants, options: ControllersOptions): AsyncDisposable {
  const { rootCertificateAuthority, only = controllerNames } = options
  const { clock = systemClock, log = silentLog } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const managed = managedTenants(tenants)
  const informers = new Informers(managed, log, signal)
  const { signer, metrics } = options
  const ctx: ControllerContext = {
    tenants: managed,
    informers,
    aggregated: new AggregatedResources({ tenants: managed, informers, clock, log, signal }),
    clock,
    log,
    signal,
    rootCertificateAuthority,
    ...(signer === undefined ? {} : { signer }),
    workers,
    activity: new Activity(clock, signal),
    failed: new FailedKeys({ tenants: managed, clock, signal }),
    limits: { ...defaultLimits, ...options.limits },
    metrics,
  }
  const running = only.map(async (name) => {
    const run = controllers[name]
    if (run === undefined) throw new Error(`there is no controller "${name}"; there are ${controllerNames.join(", ")}`)
    await run(ctx)
  })
  const ended = Promise.all(running)
  // A controller does not end by itself. If one does, it is a bug, which is logged at once and thrown when disposing.
  ended.catch((error: unknown) => log.error({ err: error }, "controller stopped"))
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await ended
    },
  }
}
