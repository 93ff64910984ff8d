// Connects the gateway to the kubelet API of a node: for a tenant the vn-agent, with a short-lived signed identity, or the kubelet of
// a node of its own (reachable-nodes.ts); for the simulated super cluster the kubelet itself. Used by pods/log, exec, attach,
// portforward, nodes/proxy.

import type { ClientRequest } from "node:http"
import type { Node } from "../../apimachinery/object.ts"
import type { UpgradeTarget } from "../../client/http/upgrade.ts"

export interface NodeDialer {
  /** Host, port, TLS settings and headers of requests to the node's kubelet endpoint; the caller adds method and path. */
  dial(node: Node): Promise<UpgradeTarget>
  /**
   * Destroys a request to what dial() has returned if it gets no connection, or later nobody hears of the node any more. For logs and
   * proxies, which may be silent.
   */
  limit(request: ClientRequest, target: UpgradeTarget): void
}

/** Connects to nodes of the super cluster. */
export interface SuperNodeDialer {
  /** Undefined: the super cluster has no node of this name. */
  dial(node: Node): Promise<UpgradeTarget | undefined>
}
