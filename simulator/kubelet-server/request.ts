// What a call to the kubelet is about, once its path is read, and how it is refused.

import type { PodSandbox } from "../kubelet/pod-sandbox.ts"

/** What is answered in the kubelet's way: a code and a sentence. */
export class KubeletError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface KubeletRequest {
  action: string
  sandbox: PodSandbox
  /** "" for port-forward. */
  container: string
  query: URLSearchParams
}
