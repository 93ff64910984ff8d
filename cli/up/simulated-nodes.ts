// The network side of the nodes of the simulated super cluster: for each node a kubelet's HTTP API and a vn-agent, on loopback,
// with their own authority (node-authority.ts).

import { createPublicKey, type KeyObject } from "node:crypto"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { PodSandbox } from "../../simulator/kubelet/pod-sandbox.ts"
import type { NodeServer } from "../../client/http/node-server.ts"
import type { NodeEndpoint } from "../../syncer/main.ts"
import { startKubeletServer } from "../../simulator/kubelet-server/server.ts"
import { defaultVnAgentLimits, type KubeletAccess } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import type { Endpoint } from "../compose/node-dialers.ts"
import type { KeptPorts } from "./kept-ports.ts"
import { nodeHost as host, type NodeAuthority } from "./node-authority.ts"

export interface SimulatedNodesOptions {
  names: readonly string[]
  ports: KeptPorts
  authority: NodeAuthority
  sandbox(node: string, namespace: string, pod: string): PodSandbox | undefined
  log: Log
}

/** The servers of the kubelets and vn-agents. The kubelets' ports are known before the simulator registers the nodes. */
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
            kubelet: this.#kubeletAccess(node),
            limits: defaultVnAgentLimits,
            log,
          })
        this.#agents.set(node, await ports.start(`vn-agent ${node}`, agent))
      }),
    )
    if (names.length > 0) await ports.write()
  }

  /** All servers use the authority's current certificates from now on. */
  renew(): void {
    const { serving } = this.#options.authority
    for (const kubelet of this.#kubelets.values())
      kubelet.setSecureContext({ cert: serving.certificate, key: serving.key })
    for (const [node, agent] of this.#agents) agent.renew({ tls: serving, kubelet: this.#kubeletAccess(node) })
  }

  #kubeletAccess(node: string): KubeletAccess {
    const { certificateAuthority, certificate, key } = this.#options.authority
    return { host, port: this.kubeletPort(node), certificateAuthority, certificate, key }
  }

  kubeletPort(node: string): number {
    return this.#kubelets.get(node)?.port ?? 0
  }

  /** Undefined for a node that is not simulated. */
  agentAddress(node: string): NodeEndpoint | undefined {
    const agent = this.#agents.get(node)
    return agent && { type: "InternalIP", address: host, port: agent.port }
  }

  /** The same address for connecting to it. */
  async agentEndpoint(node: string): Promise<Endpoint | undefined> {
    const agent = this.#agents.get(node)
    return Promise.resolve(agent && { host, port: agent.port })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const servers = [...this.#agents.values(), ...this.#kubelets.values()]
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
  }
}
