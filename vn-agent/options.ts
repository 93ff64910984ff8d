import type { KeyObject } from "node:crypto"
import type { Log } from "../client/log.ts"
import type { KubeClient } from "../client/rest.ts"

export interface VnAgentLimits {
  /** Connections from the gateway, and as many to the kubelet; more are refused. */
  connections: number
  /** Calls of one tenant that are under way; more are refused (429). Streams and followed logs last as long as their clients want. */
  callsPerTenant: number
}

export const defaultVnAgentLimits: VnAgentLimits = { connections: 1024, callsPerTenant: 512 }

/** The node's kubelet, or the super cluster's API server, which reaches all of them. */
export interface KubeletAccess {
  host: string
  port: number
  /** It is an API server, whose paths begin after this one ("" mostly). Undefined: it is the kubelet. */
  apiServerPath?: string
  /** PEM; the system's roots when absent. */
  certificateAuthority?: string
  /** Whoever has a certificate needs no token, and the other way round. */
  certificate?: string
  key?: string
  /** Asked before every call. */
  token?: () => Promise<string>
  serverName?: string
  insecureSkipTlsVerify?: boolean
}

export interface VnAgentOptions {
  /** The node it serves, by its name in the super cluster. */
  node: string
  host: string
  /** 0: any free one. */
  port: number
  /** PEM. */
  tls: { certificate: string; key: string }
  /** Public keys of the gateway; a call must carry a token one of them verifies. */
  identityKeys: readonly KeyObject[]
  /** The super cluster: where a pod's owner is looked up. */
  superClient: KubeClient
  kubelet: KubeletAccess
  limits: VnAgentLimits
  log: Log
}
