// The nodes of the simulated super cluster, as far as others can reach them: per node a kubelet's HTTP API and a vn-agent, on
// loopback, with an authority of their own that lives as long as the process.

import { createPublicKey, type KeyObject } from "node:crypto"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../../gateway/pki/pki.ts"
import type { PodSandbox } from "../../simulator/kubelet/pod-sandbox.ts"
import type { NodeServer } from "../../client/node-server.ts"
import { startKubeletServer } from "../../simulator/kubelet-server/server.ts"
import { defaultVnAgentLimits } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import { type Endpoint, type KubeletCredentials, noAddress } from "../compose/node-dialers.ts"
import type { KeptPorts } from "./kept-ports.ts"

const host = "127.0.0.1"

export interface NodeAuthority extends KubeletCredentials {
  serving: { certificate: string; key: string }
}

export async function createNodeAuthority(): Promise<NodeAuthority> {
  const authority = await createAuthority("polyplane simulated nodes")
  const [serving, client] = await Promise.all([
    issueServingCertificate(authority, [host, "localhost"]),
    issueClientCertificate(authority, { name: "kube-apiserver-kubelet-client", groups: ["system:masters"] }),
  ])
  return { certificateAuthority: authority.certificate, certificate: client.certificate, key: client.key, serving }
}

export interface SimulatedNodesOptions {
  names: readonly string[]
  ports: KeptPorts
  authority: NodeAuthority
  sandbox(node: string, namespace: string, pod: string): PodSandbox | undefined
  log: Log
}

/** The kubelets' servers; their ports are known before the simulator registers the nodes. */
export class SimulatedNodes implements AsyncDisposable {
  readonly #kubelets = new Map<string, NodeServer>()
  readonly #agents = new Map<string, VnAgent>()
  readonly #options: SimulatedNodesOptions

  private constructor(options: SimulatedNodesOptions) {
    this.#options = options
  }

  static async start(options: SimulatedNodesOptions): Promise<SimulatedNodes> {
    const nodes = new SimulatedNodes(options)
    const { authority, log, ports } = options
    await Promise.all(
      options.names.map(async (node) => {
        const kubelet = (port: number): Promise<NodeServer> =>
          startKubeletServer({
            node,
            host,
            port,
            tls: authority.serving,
            clientCertificateAuthority: authority.certificateAuthority,
            sandbox: (namespace, pod) => options.sandbox(node, namespace, pod),
            log,
          })
        nodes.#kubelets.set(node, await ports.start(`kubelet ${node}`, kubelet))
      }),
    )
    return nodes
  }

  async startAgents(superClient: KubeClient, signer: KeyObject): Promise<void> {
    const { names, authority, log, ports } = this.#options
    const identityKeys = [createPublicKey(signer)]
    await Promise.all(
      names.map(async (node) => {
        const agent = (port: number): Promise<VnAgent> =>
          VnAgent.start({
            node,
            host,
            port,
            tls: authority.serving,
            identityKeys,
            superClient,
            kubelet: { host, port: this.kubeletPort(node), ...authority },
            limits: defaultVnAgentLimits,
            log,
          })
        this.#agents.set(node, await ports.start(`vn-agent ${node}`, agent))
      }),
    )
    if (names.length > 0) await ports.write()
  }

  kubeletPort(node: string): number {
    return this.#kubelets.get(node)?.port ?? 0
  }

  /** Undefined for a node that is not simulated. */
  agentAddress(node: string): { address: string; port: number } | undefined {
    const agent = this.#agents.get(node)
    return agent === undefined ? undefined : { address: host, port: agent.port }
  }

  /** The same for who calls it. Fails for a node that is not simulated. */
  async agentEndpoint(node: string): Promise<Endpoint> {
    const { port } = this.#agents.get(node) ?? {}
    if (port === undefined) throw noAddress(node)
    return Promise.resolve({ host, port })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const servers = [...this.#agents.values(), ...this.#kubelets.values()]
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
  }
}
