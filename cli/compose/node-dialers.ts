// How the gateway connects to nodes: to the kubelet for pods of the super cluster itself, to the node's vn-agent for pods of a
// tenant.

import type { KeyObject } from "node:crypto"
import type { Agent } from "node:https"
import type { LookupFunction } from "node:net"
import { nodeAddress } from "../../apimachinery/core/node-address.ts"
import type { Node } from "../../apimachinery/object.ts"
import { isNotFound, serviceUnavailable, type StatusError } from "../../apimachinery/status.ts"
import { type Clock, systemClock } from "../../client/clock.ts"
import { nodes } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Tenant } from "../../client/tenants.ts"
import { lookupName } from "../../gateway/backends/names.ts"
import type { SuperNodeDialer } from "../../gateway/control-plane/node-dialer.ts"
import { signIdentity } from "../../vn-agent/identity.ts"
import { NodeAddresses } from "./node-addresses.ts"

export interface Endpoint {
  host: string
  port: number
  /** If `host` may be a name. */
  lookup?: LookupFunction
  /** Opens the connections; default: nobody else does. */
  agent?: Agent
}

/** The address of the kubelet according to a Node of the super cluster. */
function endpointOf(node: Node): Endpoint {
  const address = nodeAddress(node)?.address
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (address === undefined || port === undefined || port === 0) throw noAddress(node.metadata.name ?? "")
  return { host: address, port, lookup: lookupName }
}

function noAddress(node: string, cause?: unknown): StatusError {
  return serviceUnavailable(`node ${node} has no address to reach its kubelet at`, { cause })
}

export interface KubeletCredentials {
  /** PEM; signs the kubelets' serving certificates. */
  certificateAuthority: string
  certificate: string
  key: string
}

/** `credentials` are read on each call, because they are renewed. */
export function kubeletDialer(credentials: Readonly<KubeletCredentials>): SuperNodeDialer {
  return {
    async dial(node) {
      const { certificateAuthority: ca, certificate: cert, key } = credentials
      return Promise.resolve({ ...endpointOf(node), ca, cert, key, agent: false })
    },
  }
}

interface VnAgentAccess {
  signer: () => KeyObject
  /**
   * PEM; signs the vn-agents' serving certificates. Called for each connection: it may be unknown until some time after the
   * start.
   */
  certificateAuthority: () => string
  /** The server name in the vn-agents' certificate. Default: the node's address. */
  serverName?: string
  /**
   * The address of the vn-agent on the node with this name; undefined if the super cluster has no such node. It must not depend on
   * the tenant's Nodes: a tenant can write any address into them, and can create any Node.
   */
  endpoint: (node: string) => Promise<Endpoint | undefined>
}

/** Undefined if the super cluster has none of this name. */
export function superNode(superClient: Pick<KubeClient, "get">, name: string): Promise<Node | undefined> {
  return superClient.get<Node>(nodes, undefined, name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw noAddress(name, error)
  })
}

/** The vn-agents listen on each node at this port, at the address in the super cluster's Node. */
export function agentsOnNodes(
  superClient: Pick<KubeClient, "get">,
  port: number,
  clock: Clock = systemClock,
): VnAgentAccess["endpoint"] {
  const addresses = new NodeAddresses(async (name) => {
    const node = await superNode(superClient, name)
    if (node === undefined) return undefined
    return nodeAddress(node)?.address ?? Promise.reject(noAddress(name))
  }, clock)
  return async (name) => {
    const known = await addresses.of(name)
    return known && { host: known.address, port, lookup: lookupName, agent: known.agent }
  }
}

/** Each call gets its own identity token, valid for this node, this tenant, and one minute. */
export function vnAgentDialer(tenant: Tenant, access: VnAgentAccess): SuperNodeDialer {
  const { signer, certificateAuthority, serverName } = access
  return {
    async dial(node) {
      const identity = { tenant: tenant.name, clusterKey: tenant.clusterKey }
      const endpoint = await access.endpoint(node.metadata.name ?? "")
      if (endpoint === undefined) return undefined
      const ca = certificateAuthority()
      const token = await signIdentity(identity, node.metadata.name ?? "", signer())
      return {
        agent: false,
        ...endpoint,
        ca,
        ...(serverName === undefined ? {} : { servername: serverName }),
        headers: { authorization: `Bearer ${token}` },
      }
    },
  }
}
