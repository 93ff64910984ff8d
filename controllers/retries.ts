// Retry delays, and the number of consecutive failures after which a key is dropped, like the queues of kube-controller-manager:
// k8s.io/kubernetes/pkg/controller (each entry names its source).

import { dictionary } from "../apimachinery/dictionary.ts"
import type { RetryLimits } from "../client/workqueue/rate-limiter.ts"
import type { GiveUp } from "../client/workqueue/workers.ts"

interface Retries extends RetryLimits {
  /** Number of consecutive failures after which a key is dropped. Default: never. */
  most?: number
}

/** DefaultTypedControllerRateLimiter in k8s.io/client-go/util/workqueue/default_rate_limiters.go. */
const usual: Retries = { baseDelayMs: 5, maxDelayMs: 1_000_000 }
/** certificates/certificate_controller.go */
const ofCertificates: Retries = { baseDelayMs: 200, maxDelayMs: 1_000_000 }

const exceptions: Readonly<Record<string, Retries>> = dictionary({
  "certificatesigningrequest-approving": ofCertificates,
  "certificatesigningrequest-signing": ofCertificates,
  // deployment/deployment_controller.go
  deployment: { ...usual, most: 15 },
  // endpoint/endpoints_controller.go
  endpoint: { ...usual, most: 15 },
  // endpointslice/endpointslice_controller.go
  "endpoint-slice": { baseDelayMs: 1_000, maxDelayMs: 1_000_000, most: 15 },
  // endpointslicemirroring/endpointslicemirroring_controller.go
  "endpoint-slice-mirroring": { baseDelayMs: 1_000, maxDelayMs: 100_000, most: 15 },
  // job/job_controller.go
  job: { baseDelayMs: 1_000, maxDelayMs: 60_000 },
  // namespace/namespace_controller.go
  namespace: { baseDelayMs: 5, maxDelayMs: 60_000 },
  // resourcequota/resource_quota_controller.go, which counts all of them again every 5 minutes (--resource-quota-sync-period)
  resourcequota: { baseDelayMs: 5, maxDelayMs: 300_000 },
  // servicecidrs/servicecidrs_controller.go
  "service-cidr": { ...usual, most: 15 },
  // serviceaccount/tokens_controller.go
  "serviceaccount-token": { ...usual, most: 10 },
})

/** Upstream's informers resync every 12 to 24 hours (--min-resync-period), so dropped keys are not lost. */
const retryMs = 12 * 3_600_000

export function retriesOf(controller: string): Retries {
  return exceptions[controller] ?? usual
}

export function giveUpOf(controller: string): GiveUp | undefined {
  const { most } = retriesOf(controller)
  return most === undefined ? undefined : { after: most, retryMs }
}
