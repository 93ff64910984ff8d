// polyplane syncer: the syncer as a separate process.

import { hostname } from "node:os"
import { nodeAddress } from "../../apimachinery/core/node-address.ts"
import type { Node } from "../../apimachinery/object.ts"
import { type NodeEndpoint, startSyncer } from "../../syncer/main.ts"
import { connectSuperCluster } from "../compose/cluster.ts"
import { Leadership, syncerLease } from "../compose/leadership.ts"
import { connectGateway } from "../compose/remote-gateway.ts"
import { filePath, oneOf, port, withDefault } from "../config.ts"
import { healthField, healthHelp } from "./health.ts"
import { partCommand } from "./part.ts"
import { defaultVnAgentPort } from "./vn-agent.ts"

export const syncer = partCommand({
  name: "syncer",
  description: "Runs the syncer for all tenants of a gateway.",
  fieldsHelp: `  gatewayKubeconfig      admin kubeconfig of the gateway (required)
  publishNodes           all: tenants see every node; used: only nodes that their pods run on (default all)
  externalIPs            allow: tenants' Services receive the traffic to any address that they name; deny: they do not (default deny)
  networkPolicies        allow: tenants' NetworkPolicies are copied to the super cluster, which enforces them; deny: they are
                         not (default deny)
  vnAgentPort            port of the vn-agent on each node (default ${defaultVnAgentPort})
${healthHelp}`,
  fields: {
    ...healthField,
    gatewayKubeconfig: filePath,
    publishNodes: withDefault(oneOf("all", "used"), "all"),
    externalIPs: withDefault(oneOf("allow", "deny"), "deny"),
    networkPolicies: withDefault(oneOf("allow", "deny"), "deny"),
    vnAgentPort: withDefault(port, defaultVnAgentPort),
  },
  async start(
    { superKubeconfig, gatewayKubeconfig, publishNodes, externalIPs, networkPolicies, vnAgentPort },
    { log, metrics, signal, stack },
  ) {
    const superClient = stack.use(await connectSuperCluster(superKubeconfig, { log, metrics }))
    const tenants = stack.use(await connectGateway(gatewayKubeconfig, { log, metrics, signal }))
    const vnAgentEndpoint = (node: Node): NodeEndpoint | undefined => {
      const found = nodeAddress(node)
      return found && { ...found, port: vnAgentPort }
    }
    const settings = { publishNodes, externalIPs, networkPolicies, vnAgentEndpoint }
    const work = () => startSyncer({ tenants, superClient, ...settings, log, metrics })
    const identity = `${hostname()}-${process.pid}`
    stack.use(Leadership.start({ client: superClient, name: syncerLease, identity, work, log, metrics }))
    return ""
  },
})
