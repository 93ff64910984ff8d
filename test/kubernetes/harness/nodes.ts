// Simulated nodes: objects that kwok keeps ready.

import type { Node } from "../../../apimachinery/object.ts"
import { isAlreadyExists } from "../../../apimachinery/status.ts"
import { nodes } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"

/** Those that are there already, of an earlier start, stay. */
export async function createNodes(client: KubeClient, count: number): Promise<void> {
  const create = async (name: string): Promise<void> => {
    try {
      await client.create<Node>(nodes, node(name))
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => create(`node-${index + 1}`)))
}

function node(name: string): Node {
  const resources = { cpu: "32", memory: "256Gi", pods: "110", "ephemeral-storage": "100Gi" }
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
      annotations: { "kwok.x-k8s.io/node": "fake" },
    },
    status: { allocatable: resources, capacity: resources },
  }
}

/** `untaint`: removes the taint that the controller manager would remove from a ready node. */
export async function nodesAreReady(client: KubeClient, { untaint }: { untaint: boolean }): Promise<boolean> {
  const { items } = await client.list<Node>(nodes)
  const isReady = ({ status }: Node) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true
  if (!items.every(isReady)) return false
  const tainted = items.filter(({ spec }) => spec?.taints !== undefined && spec.taints.length > 0)
  if (untaint) {
    const free = ({ metadata }: Node) =>
      client.patch<Node>(nodes, undefined, metadata.name ?? "", { spec: { taints: null } }, { type: "merge" })
    await Promise.all(tainted.map(free))
    return true
  }
  return tainted.length === 0
}
