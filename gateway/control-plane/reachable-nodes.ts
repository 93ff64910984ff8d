// The nodes of a control plane: those of the super cluster are reached as it says, and a tenant's own as kube-apiserver reaches
// nodes. Their addresses are the tenant's choice, as the URLs of its webhooks are (docs/decisions/0010). Source:
// k8s.io/kubernetes/pkg/kubelet/client.

import type { ClientRequest } from "node:http"
import { nodeAddress } from "../../apimachinery/core/node-address.ts"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { Node } from "../../apimachinery/object.ts"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import { isVirtualNode } from "../../apimachinery/tenancy.ts"
import type { SilentServers } from "../../client/http/silent-servers.ts"
import { limitConnecting, nodeConnectTimeoutMs } from "../../client/http/time-limits.ts"
import type { UpgradeTarget } from "../../client/http/upgrade.ts"
import type { TrustRoots } from "../authentication/types.ts"
import { masters } from "../authorization/rbac.ts"
import type { NetworkRules } from "../backends/networks.ts"
import { LastingCertificate } from "../pki/lasting-certificate.ts"
import type { NodeDialer, SuperNodeDialer } from "./node-dialer.ts"

/** Port of a kubelet whose Node says nothing of it. */
const kubeletPort = 10250
/** As kubeadm names the certificate with which kube-apiserver calls kubelets. */
const clientName = "kube-apiserver-kubelet-client"

interface ReachableNodesParts {
  superNodes: SuperNodeDialer
  silentServers: SilentServers
  networks: NetworkRules
  /** Kubelets of the tenant's own nodes accept what its client authority has signed. */
  trust: Pick<TrustRoots, "clientCertificateAuthority">
}

export class ReachableNodes implements NodeDialer {
  readonly #parts: ReachableNodesParts
  readonly #certificate: LastingCertificate

  constructor(parts: ReachableNodesParts) {
    this.#parts = parts
    const { clientCertificateAuthority } = parts.trust
    this.#certificate = new LastingCertificate(clientCertificateAuthority, { name: clientName, groups: [masters] })
  }

  async dial(node: Node): Promise<UpgradeTarget> {
    const found = await this.#parts.superNodes.dial(node)
    if (found !== undefined) return found
    const address = isVirtualNode(node) ? undefined : nodeAddress(node)?.address
    if (address === undefined)
      throw serviceUnavailable(`node ${node.metadata.name} has no address to reach its kubelet at`)
    const { certificate: cert, key } = await this.#certificate.current()
    return {
      host: await this.#allowed(address),
      port: node.status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort,
      cert,
      key,
      // Kubelets sign their own serving certificates; kube-apiserver does not verify them either, unless it is told how.
      rejectUnauthorized: false,
      agent: false,
    }
  }

  limit(request: ClientRequest, target: UpgradeTarget): void {
    limitConnecting(request, nodeConnectTimeoutMs)
    this.#parts.silentServers.follow(request, target)
  }

  async #allowed(host: string): Promise<string> {
    try {
      return await this.#parts.networks.resolve(host)
    } catch (error) {
      throw serviceUnavailable(`error dialing backend: ${errorMessage(error)}`, { cause: error })
    }
  }
}
