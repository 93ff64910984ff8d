// Vn-agents for the nodes of a super cluster that is somebody else's: in this process, one per node, made when its logs are
// first asked for. They go through that cluster's API server (pods/log, pods/exec …), since its kubeconfig is all that is
// known. In a real installation they run on the nodes (manifests/vn-agent.yaml), next to the kubelets.

import { createPublicKey, type KeyObject } from "node:crypto"
import type { TlsIdentity } from "../../client/http-transport.ts"
import type { ClientConfig } from "../../client/kubeconfig.ts"
import type { Log } from "../../client/log.ts"
import { nodes } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { defaultVnAgentLimits, type KubeletAccess } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import { type Endpoint, noAddress } from "../compose/node-dialers.ts"
import type { NodeAuthority } from "./node-authority.ts"

const host = "127.0.0.1"

export interface RealNodesOptions {
  superClient: KubeClient
  superConfig: ClientConfig
  authority: NodeAuthority
  signer: KeyObject
  log: Log
}

export class RealNodes implements AsyncDisposable {
  readonly #options: RealNodesOptions
  #superConfig: ClientConfig
  readonly #agents = new Map<string, Promise<VnAgent>>()

  constructor(options: RealNodesOptions) {
    this.#options = options
    this.#superConfig = options.superConfig
  }

  /** What the super cluster is asked with from now on; without it, what the authority has by now is served with. */
  renew(identity: TlsIdentity = {}): void {
    this.#superConfig = { ...this.#superConfig, ...identity }
    const kubelet = throughAPIServer(this.#superConfig)
    const tls = this.#options.authority.serving
    // One that is still starting has the old ones until it has started, one that fails needs none.
    for (const starting of this.#agents.values())
      starting.then(
        (agent) => agent.renew({ tls, kubelet }),
        () => undefined,
      )
  }

  /**
   * Where the node's vn-agent listens. Nothing bounds these but the number of nodes that the super cluster has: tenants may ask for
   * any name.
   */
  async agentEndpoint(node: string): Promise<Endpoint> {
    let starting = this.#agents.get(node)
    if (starting === undefined) {
      starting = this.#start(node)
      this.#agents.set(node, starting)
      // Tried again at the next call.
      starting.catch(() => this.#agents.delete(node))
    }
    return { host, port: (await starting).port }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = await Promise.allSettled(this.#agents.values())
    this.#agents.clear()
    const agents = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    await Promise.all(agents.map((agent) => agent[Symbol.asyncDispose]()))
  }

  async #start(node: string): Promise<VnAgent> {
    const { superClient, authority, signer, log } = this.#options
    await superClient.get(nodes, undefined, node).catch((error: unknown) => {
      throw noAddress(node, error)
    })
    return VnAgent.start({
      node,
      host,
      port: 0,
      tls: authority.serving,
      identityKeys: [createPublicKey(signer)],
      superClient,
      kubelet: throughAPIServer(this.#superConfig),
      limits: defaultVnAgentLimits,
      log,
    })
  }
}

function throughAPIServer(config: ClientConfig): KubeletAccess {
  const { server, certificateAuthority, certificate, key, token, serverName, insecureSkipTlsVerify } = config
  const url = new URL(server)
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 443 : Number(url.port),
    apiServerPath: url.pathname.replace(/\/$/, ""),
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token: typeof token === "string" ? () => Promise.resolve(token) : token }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
  }
}
