// Connects the gateway to the kubelet API of a node: for a tenant the vn-agent, with a short-lived signed identity; for the
// simulated super cluster the kubelet itself. Used by pods/log, exec, attach, portforward, nodes/proxy.

import type { Node } from "../../apimachinery/object.ts"
import type { UpgradeTarget } from "../../client/http/upgrade.ts"

export interface NodeDialer {
  /** Host, port, TLS settings and headers of requests to the node's kubelet endpoint; the caller adds method and path. */
  dial(node: Node): Promise<UpgradeTarget>
}
