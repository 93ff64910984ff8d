// How the gateway reaches nodes: the kubelet itself for the super cluster's own pods, the node's vn-agent for a tenant's.

import type { KeyObject } from "node:crypto"
import type { Node } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { Tenant } from "../../client/tenants.ts"
import type { NodeDialer } from "../../gateway/tenancy/node-dialer.ts"
import { signIdentity } from "../../vn-agent/identity.ts"

export interface Endpoint {
  host: string
  port: number
}

/** Where the node says its kubelet API is: for a virtual node that is the vn-agent. */
function endpointOf(node: Node): Endpoint {
  const address = node.status?.addresses?.find(({ type }) => type === "InternalIP")?.address
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (address === undefined || port === undefined || port === 0) {
    throw serviceUnavailable(`node ${node.metadata.name ?? ""} has no address to reach its kubelet at`)
  }
  return { host: address, port }
}

export interface KubeletCredentials {
  /** PEM; signs the kubelets' serving certificates. */
  certificateAuthority: string
  certificate: string
  key: string
}

export function kubeletDialer({ certificateAuthority, certificate, key }: KubeletCredentials): NodeDialer {
  return {
    dial: (node) =>
      Promise.resolve({ ...endpointOf(node), ca: certificateAuthority, cert: certificate, key, agent: false }),
  }
}

export interface VnAgentAccess {
  signer: () => KeyObject
  /** PEM; signs the vn-agents' serving certificates. Asked at each call: it may be known only some time after the start. */
  certificateAuthority: () => string
  /** The name in the vn-agents' certificate. Default: the node's address. */
  serverName?: string
  /** Where vn-agents listen on every node. Default: what the node says. */
  port?: number
  /** Where the vn-agent of a node listens, when that is not on the node. */
  endpoint?: (node: string) => Promise<Endpoint>
}

/** One identity per call: it is good for this node, this tenant, and a minute. */
export function vnAgentDialer(tenant: Tenant, access: VnAgentAccess): NodeDialer {
  const { signer, certificateAuthority, serverName, port } = access
  const find = access.endpoint
  return {
    async dial(node) {
      const identity = { tenant: tenant.name, clusterKey: tenant.clusterKey }
      const endpoint = find === undefined ? endpointOf(node) : await find(node.metadata.name ?? "")
      const ca = certificateAuthority()
      const token = await signIdentity(identity, node.metadata.name ?? "", signer())
      return {
        host: endpoint.host,
        port: port ?? endpoint.port,
        ca,
        ...(serverName === undefined ? {} : { servername: serverName }),
        agent: false,
        headers: { authorization: `Bearer ${token}` },
      }
    },
  }
}
