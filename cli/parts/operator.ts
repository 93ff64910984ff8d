// polyplane operator: the operator as a separate process.

import { hostname } from "node:os"
import { startOperator } from "../../operator/main.ts"
import { connectSuperCluster } from "../compose/cluster.ts"
import { Leadership, operatorLease } from "../compose/leadership.ts"
import { connectGateway } from "../compose/remote-gateway.ts"
import { filePath } from "../config.ts"
import { healthField, healthHelp } from "./health.ts"
import { partCommand } from "./part.ts"

export const operator = partCommand({
  name: "operator",
  description: "Runs the operator, which creates a tenant of the gateway for each VirtualCluster in the super cluster.",
  fieldsHelp: `  gatewayKubeconfig      admin kubeconfig of the gateway (required)
${healthHelp}`,
  fields: { gatewayKubeconfig: filePath, ...healthField },
  async start({ superKubeconfig, gatewayKubeconfig }, { log, metrics, signal, stack }) {
    const superClient = stack.use(await connectSuperCluster(superKubeconfig, { log, metrics }))
    const tenants = stack.use(await connectGateway(gatewayKubeconfig, { log, metrics, signal }))
    const work = () => startOperator({ superClient, tenants, log, metrics })
    const identity = `${hostname()}-${process.pid}`
    stack.use(Leadership.start({ client: superClient, name: operatorLease, identity, work, log, metrics }))
    return ""
  },
})
