// The nodes on which scenarios are played.

import { setTimeout as delay } from "node:timers/promises"
import { microTimestamp, timestamp, type Node } from "../../../apimachinery/object.ts"
import { leases, nodes } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { exists } from "./play.ts"

const nodeNames = ["n1", "n2"]

const zoneOf = (node: string): Record<string, string> => ({ "topology.kubernetes.io/zone": node.replace("n", "z") })

export interface NodeOptions {
  /** Each has one of its own. */
  zones: boolean
  signal: AbortSignal
}

/** Two nodes that are ready, and stay so until the signal ends. */
export async function createNodes(client: KubeClient, { zones, signal }: NodeOptions): Promise<void> {
  const at = timestamp()
  for (const name of nodeNames) {
    const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: at, lastTransitionTime: at }]
    const labels = zones ? zoneOf(name) : {}
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name, labels } })
    await client.patch(nodes, undefined, name, { status: { conditions } }, { type: "merge", subresource: "status" })
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: "kube-node-lease" },
    }
    await client.create(leases, lease)
    await exists(async () => {
      const { spec } = await client.get<Node>(nodes, undefined, name)
      if ((spec?.taints ?? []).length > 0)
        await client.patch(nodes, undefined, name, { spec: { taints: null } }, { type: "merge" })
    })
  }
  void beat(client, signal)
}

async function beat(client: KubeClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const name of nodeNames) {
      const spec = { holderIdentity: name, renewTime: microTimestamp() }
      await client.patch(leases, "kube-node-lease", name, { spec }, { type: "merge" }).catch(() => undefined) // it ends
    }
    await delay(5_000, undefined, { signal }).catch(() => undefined) // it ends
  }
}
