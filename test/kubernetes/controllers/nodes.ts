// The nodes on which scenarios are played.

import { setTimeout as delay } from "node:timers/promises"
import { microTimestamp, timestamp, type Node } from "../../../apimachinery/object.ts"
import { isAlreadyExists } from "../../../apimachinery/status.ts"
import { leases, nodes } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { exists } from "./play.ts"

const nodeNames = ["n1", "n2"]

const zoneOf = (node: string): Record<string, string> => ({ "topology.kubernetes.io/zone": node.replace("n", "z") })

interface NodeOptions {
  /** Each has one of its own. */
  zones: boolean
  heartbeats: Heartbeats
}

/** Two nodes that are ready, and stay so. */
export async function createNodes(client: KubeClient, { zones, heartbeats }: NodeOptions): Promise<void> {
  const at = timestamp()
  for (const name of nodeNames) {
    const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: at, lastTransitionTime: at }]
    const labels = zones ? zoneOf(name) : {}
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels } })
    await client.patch(nodes, undefined, name, { status: { conditions } }, { type: "merge", subresource: "status" })
    await heartbeats.begin(name)
    await exists(async () => {
      const { spec } = await client.get<Node>(nodes, undefined, name)
      if ((spec?.taints ?? []).length > 0)
        await client.patch(nodes, undefined, name, { spec: { taints: null } }, { type: "merge" })
    })
  }
}

/** Renews leases of nodes, as their kubelets would. */
export class Heartbeats {
  readonly #client: KubeClient
  readonly #nodes = new Set<string>()

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client
    void this.#run(signal)
  }

  async begin(node: string): Promise<void> {
    const metadata = { name: node, namespace: "kube-node-lease" }
    try {
      await this.#client.create(leases, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    this.#nodes.add(node)
    await this.#renew(node)
  }

  end(node: string): void {
    this.#nodes.delete(node)
  }

  /** Of nodes whose names begin with this. */
  endAll(prefix: string): void {
    for (const node of this.#nodes) if (node.startsWith(prefix)) this.#nodes.delete(node)
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const node of this.#nodes) await this.#renew(node).catch(() => undefined) // it ends
      await delay(5_000, undefined, { signal }).catch(() => undefined) // it ends
    }
  }

  async #renew(node: string): Promise<void> {
    const spec = { holderIdentity: node, renewTime: microTimestamp() }
    await this.#client.patch(leases, "kube-node-lease", node, { spec }, { type: "merge" })
  }
}
