// nodes/proxy: the kubelet API, as far as it concerns the tenant: the node's vn-agent serves only the tenant's own pods. Other
// ports of a node are not reachable.

import type { ClientRequest } from "node:http"
import { isIP } from "node:net"
import type { Node } from "../../../../../apimachinery/object.ts"
import { forbidden } from "../../../../../apimachinery/status.ts"
import { tcpKeepAlive } from "../../../../../client/http/tcp-keep-alive.ts"
import { type Locate, serveProxy } from "../../../../proxy/serve.ts"
import type { SubresourceHandler } from "../../../strategy.ts"

const kubeletPort = 10250

export const proxy: SubresourceHandler = {
  connect: (ctx, registry, _namespace, _name, exchange) =>
    serveProxy(ctx, registry, exchange, { what: "node", kind: "NodeProxyOptions", locate }),
}

const locate: Locate = async (ctx, registry, { name, port }) => {
  const node = (await registry.get(ctx, "", name)).object() as Node
  const own = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
  if (port !== "" && port !== String(own) && port !== String(kubeletPort)) {
    throw forbidden({ group: "", resource: "nodes/proxy" }, name, "only the kubelet's port of a node can be reached")
  }
  const { nodes } = ctx.controlPlane
  const target = await nodes.dial(node)
  // Otherwise Node expects a certificate for the host that the client has named.
  const { host, servername = isIP(host ?? "") === 0 ? (host ?? "") : "" } = target
  const limit = (request: ClientRequest): void => nodes.limit(request, target)
  return { target: { ...tcpKeepAlive, ...target, servername, protocol: "https:", limit } }
}
