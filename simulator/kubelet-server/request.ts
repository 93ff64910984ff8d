// A call to the kubelet after its path has been parsed.

import type { PodSandbox } from "../kubelet/pod-sandbox.ts"

export interface KubeletRequest {
  action: string
  sandbox: PodSandbox
  /** "" for port-forward. */
  container: string
  query: URLSearchParams
}
