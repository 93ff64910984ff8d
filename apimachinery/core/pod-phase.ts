// The phases in which a pod has ended for good. Source: IsPodTerminal in k8s.io/kubernetes/pkg/api/v1/pod.

import type { Pod } from "../object.ts"

export function isFinished({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed"
}
