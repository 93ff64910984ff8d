// The address at which the servers of a node are reached: its kubelet, its vn-agent.

import type { Node } from "../object.ts"

interface NodeAddress {
  type: string
  address: string
}

/** The first of these is used, as in clusters that kubeadm sets up (--kubelet-preferred-address-types). */
const types = ["InternalIP", "ExternalIP", "Hostname"]

export function nodeAddress({ status }: Pick<Node, "status">): NodeAddress | undefined {
  const addresses = status?.addresses ?? []
  return types.flatMap((type) => addresses.filter((address) => address.type === type))[0]
}
