// Long-running requests: they have no time limit and are counted separately. Source:
// k8s.io/kubernetes/pkg/controlplane/apiserver/config.go.

import type { RequestInfo } from "./request-info.ts"

const verbs = new Set(["watch", "proxy"])
const subresources = new Set(["attach", "exec", "proxy", "log", "portforward"])

export function isLongRunning(info: RequestInfo): boolean {
  return info.isResourceRequest && (verbs.has(info.verb) || subresources.has(info.subresource))
}
