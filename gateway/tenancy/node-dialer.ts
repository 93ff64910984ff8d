// How the gateway reaches what serves the kubelet's API on a node: for a tenant the vn-agent, with a short-lived signed
// identity; for the simulated super cluster the kubelet itself. Used by pods/log, exec, attach, portforward, nodes/proxy.

import type { Node } from "../../apimachinery/object.ts"
import type { UpgradeTarget } from "../../client/upgrade.ts"

export interface NodeDialer {
  /** Host, port, TLS and headers of a request to that node's kubelet endpoint; the caller adds method and path. */
  dial(node: Node): Promise<UpgradeTarget>
}
