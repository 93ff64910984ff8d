// Whether a pod has ended for good, or is ready. Source: k8s.io/kubernetes/pkg/api/v1/pod.

import type { Pod } from "../object.ts"

export function isFinished({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed"
}

export function isReady({ status }: Pick<Pod, "status">): boolean {
  return status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true
}
