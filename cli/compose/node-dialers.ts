// How the gateway reaches nodes: the kubelet itself for the super cluster's own pods, the node's vn-agent for a tenant's.

import type { KeyObject } from "node:crypto"
import type { Node } from "../../apimachinery/object.ts"
import { serviceUnavailable, type StatusError } from "../../apimachinery/status.ts"
import { nodes } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { NodeDialer } from "../../gateway/tenancy/node-dialer.ts"
import { signIdentity } from "../../vn-agent/identity.ts"

export interface Endpoint {
  host: string
  port: number
}

/** Where a node of the super cluster says that its kubelet is. */
function endpointOf(node: Node): Endpoint {
  const address = addressOf(node)
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (address === undefined || port === undefined || port === 0) throw noAddress(node.metadata.name ?? "")
  return { host: address, port }
}

const addressOf = ({ status }: Node): string | undefined =>
  status?.addresses?.find(({ type }) => type === "InternalIP")?.address

/** Of a node that the tenant alone knows, too. */
export function noAddress(node: string, cause?: unknown): StatusError {
  return serviceUnavailable(`node ${node} has no address to reach its kubelet at`, { cause })
}

export interface KubeletCredentials {
  /** PEM; signs the kubelets' serving certificates. */
  certificateAuthority: string
  certificate: string
  key: string
}

/** `credentials` are read at each call: they are renewed. */
export function kubeletDialer(credentials: Readonly<KubeletCredentials>): NodeDialer {
  return {
    async dial(node) {
      const { certificateAuthority: ca, certificate: cert, key } = credentials
      return Promise.resolve({ ...endpointOf(node), ca, cert, key, agent: false })
    },
  }
}

export interface VnAgentAccess {
  signer: () => KeyObject
  /** PEM; signs the vn-agents' serving certificates. Asked at each call: it may be known only some time after the start. */
  certificateAuthority: () => string
  /** The name in the vn-agents' certificate. Default: the node's address. */
  serverName?: string
  /**
   * Where the vn-agent of the node of that name listens. Nothing a tenant says of its nodes is asked: it may write any address there,
   * and any node.
   */
  endpoint: (node: string) => Promise<Endpoint>
}

/** On each node at that port, at the address the super cluster has of the node. */
export function agentsOnNodes(superClient: Pick<KubeClient, "get">, port: number): VnAgentAccess["endpoint"] {
  return async (name) => {
    const node = await superClient.get<Node>(nodes, undefined, name).catch((error: unknown) => {
      throw noAddress(name, error)
    })
    const host = addressOf(node)
    if (host === undefined) throw noAddress(name)
    return { host, port }
  }
}

/** One identity per call: it is good for this node, this tenant, and a minute. */
export function vnAgentDialer(tenant: Tenant, access: VnAgentAccess): NodeDialer {
  const { signer, certificateAuthority, serverName } = access
  return {
    async dial(node) {
      const identity = { tenant: tenant.name, clusterKey: tenant.clusterKey }
      const { host, port } = await access.endpoint(node.metadata.name ?? "")
      const ca = certificateAuthority()
      const token = await signIdentity(identity, node.metadata.name ?? "", signer())
      return {
        host,
        port,
        ca,
        ...(serverName === undefined ? {} : { servername: serverName }),
        agent: false,
        headers: { authorization: `Bearer ${token}` },
      }
    },
  }
}
