import type { KeyObject } from "node:crypto"
import type { Log } from "../client/log.ts"
import type { KubeClient } from "../client/rest.ts"

interface VnAgentLimits {
  /**
   * Maximum number of connections from the gateway, and of those to the kubelet. A sixteenth of them is for probes and refusals, the
   * others for calls. Streams and followed logs last as long as their clients want, so a tenant gets no more calls (429) when fewer
   * are left for others than it has: one alone gets half of them.
   */
  connections: number
}

export const defaultVnAgentLimits: VnAgentLimits = { connections: 1024 }

/** The node's kubelet, or the super cluster's API server, through which all kubelets can be reached. */
export interface KubeletAccess {
  host: string
  port: number
  /** Set for an API server: the prefix of its paths, usually "". Undefined for a kubelet. */
  apiServerPath?: string
  /** PEM; default: the system's roots. */
  certificateAuthority?: string
  /** Either a client certificate or a token is needed. */
  certificate?: string
  key?: string
  /** Called before every call. */
  token?: () => Promise<string>
  serverName?: string
  insecureSkipTlsVerify?: boolean
}

export interface VnAgentOptions {
  /** The name of the served node in the super cluster. */
  node: string
  /** Default: all addresses, of IPv6 and of IPv4. */
  host?: string
  /** 0 selects a free port. */
  port: number
  /** PEM. */
  tls: { certificate: string; key: string }
  /** Public keys of the gateway; one of them must verify the token of a call. */
  identityKeys: readonly KeyObject[]
  /** The super cluster, in which the owner of a pod is looked up. */
  superClient: KubeClient
  kubelet: KubeletAccess
  limits: VnAgentLimits
  log: Log
}
