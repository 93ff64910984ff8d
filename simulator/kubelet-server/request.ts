// What a call to the kubelet is about, once its path is read.

import type { PodSandbox } from "../kubelet/pod-sandbox.ts"

export interface KubeletRequest {
  action: string
  sandbox: PodSandbox
  /** "" for port-forward. */
  container: string
  query: URLSearchParams
}
