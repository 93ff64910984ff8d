// What tenants' pods use in a real super cluster, for the gateway.

import { runUntilDisposed } from "../../client/background.ts"
import type { PodUsageProvider } from "../../client/pod-usage.ts"
import type { KubeClient } from "../../client/rest.ts"
import { SuperPodUsage } from "../../syncer/main.ts"

export function podUsageOf(superClient: KubeClient, stack: AsyncDisposableStack): PodUsageProvider {
  const usage = new SuperPodUsage(superClient)
  runUntilDisposed(stack, (signal) => usage.follow(signal))
  return usage
}
