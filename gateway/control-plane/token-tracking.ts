// The day since which the use of legacy tokens is tracked; controller managers read it at their start. Source:
// k8s.io/kubernetes/pkg/controlplane/controller/legacytokentracking.

import type { ConfigMap } from "../../apimachinery/object.ts"

export const trackingName = "kube-apiserver-legacy-service-account-token-tracking"

export function tokenTracking(since: string): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: trackingName, namespace: "kube-system" },
    data: { since },
  }
}

/** What it must be changed to. undefined: it says a day. */
export function correctedTracking(current: ConfigMap, today: string): ConfigMap | undefined {
  const { since = "" } = current.data ?? {}
  return isDay(since) ? undefined : { ...current, data: { ...current.data, since: today } }
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  // Dates of JavaScript continue in the next month.
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
