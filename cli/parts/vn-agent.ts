// polyplane vn-agent: the vn-agent of the node that it runs on.

import { allAddresses, explainListen } from "../../gateway/connections/listener.ts"
import { defaultVnAgentLimits } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import { UserError } from "../command.ts"
import { connectSuperCluster } from "../compose/cluster.ts"
import { filePath, listenPort, optional, orEnvironment, port, section, text, withDefault } from "../config.ts"
import { healthField, healthHelp } from "./health.ts"
import { partCommand } from "./part.ts"
import {
  followIdentity,
  followKubeletIdentity,
  type KubeletIdentity,
  readIdentity,
  readKubeletIdentity,
} from "./vn-agent-identity.ts"

export const defaultVnAgentPort = 10_550
/** The kubelet's own default. */
const kubeletPort = 10_250

export const vnAgent = partCommand({
  name: "vn-agent",
  description: "Serves the kubelet API of one node to the gateway, for pods of tenants only.",
  fieldsHelp: `  node                   name of the node (default $NODE_NAME)
  host                   address to listen on (default: all addresses, of IPv6 and IPv4)
  port                   port to listen on (default ${defaultVnAgentPort}; 0 selects a free port)
  identityKeys           file with one or more public keys of the gateway (required)
  certificate, key       files with the serving certificate and its key (required)
  kubelet:
    host                 address of the kubelet (default 127.0.0.1)
    port                 port of the kubelet (default ${kubeletPort})
    certificateAuthority file with the authority of the kubelet's serving certificate (required)
    certificate, key     files with a client certificate that the kubelet accepts, and its key (required)
    serverName           name in the kubelet's serving certificate (default: name of the node)
${healthHelp}`,
  fields: {
    ...healthField,
    node: orEnvironment("NODE_NAME", text),
    host: optional(text),
    port: withDefault(listenPort, defaultVnAgentPort),
    identityKeys: filePath,
    certificate: filePath,
    key: filePath,
    kubelet: section({
      host: withDefault(text, "127.0.0.1"),
      port: withDefault(port, kubeletPort),
      certificateAuthority: filePath,
      certificate: filePath,
      key: filePath,
      serverName: optional(text),
    }),
  },
  async start({ superKubeconfig, node, host, port: listen, kubelet, ...files }, { log, metrics, signal, stack }) {
    const superClient = stack.use(await connectSuperCluster(superKubeconfig, { log, metrics }))
    const kubeletIdentity = await readKubeletIdentity(kubelet)
    const options = {
      node,
      ...(host === undefined ? {} : { host }),
      port: listen,
      ...(await readIdentity(files)),
      superClient,
      kubelet: {
        host: kubelet.host,
        port: kubelet.port,
        ...kubeletIdentity,
        // The kubelet is called over loopback, which its certificate does not contain.
        serverName: kubelet.serverName ?? node,
      },
      limits: defaultVnAgentLimits,
      log,
    }
    const agent = stack.use(await startAgent(options))
    const renewKubelet = (renewed: KubeletIdentity) => agent.renew({ kubelet: { ...options.kubelet, ...renewed } })
    const following = [
      followIdentity(files, options, (renewed) => agent.renew(renewed), { signal, log }),
      followKubeletIdentity(kubelet, kubeletIdentity, renewKubelet, { signal, log }),
    ]
    stack.defer(() => Promise.all(following).then(() => undefined))
    return `${host ?? allAddresses}:${agent.port}, for node ${node}`
  },
})

async function startAgent(options: Parameters<typeof VnAgent.start>[0]): Promise<VnAgent> {
  try {
    return await VnAgent.start(options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    const { message } = explainListen(error as NodeJS.ErrnoException, options.host ?? allAddresses, options.port)
    throw new UserError(`the vn-agent cannot serve: ${message}`, { cause: error })
  }
}
