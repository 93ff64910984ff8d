// Vn-agents for the nodes of a real super cluster: in this process, one per node, created on the first request for the node's
// logs. They use that cluster's API server (pods/log, pods/exec …), since only its kubeconfig is known. In a real installation
// they run on the nodes (manifests/vn-agent.yaml), next to the kubelets.

import { createPublicKey, type KeyObject } from "node:crypto"
import { type Clock, systemClock } from "../../client/clock.ts"
import type { TlsIdentity } from "../../client/http/transport.ts"
import type { ClientConfig } from "../../client/credentials/kubeconfig.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { defaultVnAgentLimits, type KubeletAccess } from "../../vn-agent/options.ts"
import { VnAgent } from "../../vn-agent/server.ts"
import { type Endpoint, superNode } from "../compose/node-dialers.ts"
import type { NodeAuthority } from "./node-authority.ts"

const host = "127.0.0.1"
/** So many nodes with a vn-agent are looked up when another one is started: more than one, so that those of nodes that are gone become fewer. */
const lookedUpPerStart = 2
/** So long a node that was looked up is taken to be there. */
const knownMs = 10_000

interface RealNodesOptions {
  superClient: KubeClient
  superConfig: ClientConfig
  authority: NodeAuthority
  signer: KeyObject
  log: Log
  clock?: Clock
}

interface Agent {
  readonly starting: Promise<VnAgent>
  /** When the super cluster last had its node, by the clock's elapsed(). */
  seenAt: number
}

export class RealNodes implements AsyncDisposable {
  readonly #options: RealNodesOptions
  #superConfig: ClientConfig
  readonly #clock: Clock
  readonly #agents = new Map<string, Agent>()

  constructor(options: RealNodesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#superConfig = options.superConfig
  }

  /** Uses this identity for the super cluster from now on; without one, only reloads the authority's serving certificate. */
  renew(identity: TlsIdentity = {}): void {
    this.#superConfig = { ...this.#superConfig, ...identity }
    const kubelet = throughAPIServer(this.#superConfig)
    const tls = this.#options.authority.serving
    // A vn-agent that is starting is renewed when it has started; one that fails to start needs nothing.
    for (const { starting } of this.#agents.values())
      starting.then(
        (agent) => agent.renew({ tls, kubelet }),
        () => undefined,
      )
  }

  /**
   * The address of the node's vn-agent; undefined if the super cluster has no such node. The number of vn-agents is bounded only by
   * the number of nodes in the super cluster: tenants may request any name.
   */
  async agentEndpoint(node: string): Promise<Endpoint | undefined> {
    const known = this.#agents.get(node)
    const isKnown = known !== undefined && this.#clock.elapsed() - known.seenAt < knownMs
    if (!isKnown && !(await this.#exists(node))) return undefined
    const { starting } = this.#agents.get(node) ?? this.#add(node)
    return { host, port: (await starting).port }
  }

  #add(node: string): Agent {
    const agent = { starting: this.#start(node), seenAt: this.#clock.elapsed() }
    this.#agents.set(node, agent)
    // Retried by the next call.
    agent.starting.catch(() => this.#forget(node, agent))
    void this.#endAbsent(node)
    return agent
  }

  /** False if there is none any more, or another one. */
  #forget(node: string, agent: Agent): boolean {
    return this.#agents.get(node) === agent && this.#agents.delete(node)
  }

  /** Of nodes that are gone, though nobody asks for them any more: a cluster may have new ones every day. Those that were looked up last are last. */
  async #endAbsent(started: string): Promise<void> {
    const others = [...this.#agents].filter(([node]) => node !== started).slice(0, lookedUpPerStart)
    for (const [node, agent] of others) {
      // What cannot be looked up is looked up again.
      const exists = await this.#exists(node).catch(() => true)
      if (exists && this.#forget(node, agent)) this.#agents.set(node, agent)
    }
  }

  /** Whether the super cluster has the node. The vn-agent of one that it has no more ends, as if it ran there. */
  async #exists(node: string): Promise<boolean> {
    // One that is added while the node is looked up is that of a node which has returned.
    const agent = this.#agents.get(node)
    const exists = (await superNode(this.#options.superClient, node)) !== undefined
    if (exists && agent !== undefined) agent.seenAt = this.#clock.elapsed()
    if (exists || agent === undefined || !this.#forget(node, agent)) return exists
    // One that has failed to start needs no end.
    await agent.starting.then(
      (started) => started[Symbol.asyncDispose](),
      () => undefined,
    )
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = await Promise.allSettled([...this.#agents.values()].map(({ starting }) => starting))
    this.#agents.clear()
    const agents = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    await Promise.all(agents.map((agent) => agent[Symbol.asyncDispose]()))
  }

  async #start(node: string): Promise<VnAgent> {
    const { superClient, authority, signer, log } = this.#options
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
