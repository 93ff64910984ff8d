// Nodes without machines: Node objects with capacity, conditions and addresses, kept alive by their Leases, not by writing
// the Node (kube-node-lease, as kubelets do since 1.17).

import { microTimestamp, timestamp, type KubeObject, type Node } from "../apimachinery/object.ts"
import { isAlreadyExists, isNotFound } from "../apimachinery/status.ts"
import type { Log } from "../client/log.ts"
import { leases, nodes } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"

/** As the kubelet's nodeLeaseDurationSeconds and its renewal at a quarter of it. */
const leaseSeconds = 40
const renewMs = 10_000

export interface NodeSettings {
  cpu: string
  memory: string
  pods: number
}

export const defaultNodeSettings: NodeSettings = { cpu: "32", memory: "128Gi", pods: 500 }

export interface SimulatedNode {
  name: string
  hostIP: string
  podCIDR: string
  addresses: PodAddresses
}

/** A /16 per node: 10.<128 + index>.0.0. Free addresses are found without a search. */
export class PodAddresses {
  readonly #prefix: string
  readonly #byOwner = new Map<string, string>()
  readonly #taken = new Set<string>()
  #next = 1

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** `wanted`: what the pod had before a restart. Undefined: none is free. */
  allocate(owner: string, wanted: string | undefined): string | undefined {
    const held = this.#byOwner.get(owner)
    if (held !== undefined) return held
    const address = wanted?.startsWith(`${this.#prefix}.`) === true && !this.#taken.has(wanted) ? wanted : this.#free()
    if (address === undefined) return undefined
    this.#taken.add(address)
    this.#byOwner.set(owner, address)
    return address
  }

  release(owner: string): void {
    const address = this.#byOwner.get(owner)
    if (address === undefined) return
    this.#byOwner.delete(owner)
    this.#taken.delete(address)
  }

  #free(): string | undefined {
    const size = 65_533
    if (this.#taken.size >= size) return undefined
    for (;;) {
      const host = this.#next
      this.#next = (this.#next % size) + 1
      const address = `${this.#prefix}.${host >> 8}.${host & 255}`
      if (!this.#taken.has(address)) return address
    }
  }
}

export function simulatedNode(index: number): SimulatedNode {
  const prefix = `10.${128 + index}`
  return {
    name: `node-${index + 1}`,
    hostIP: "127.0.0.1",
    podCIDR: `${prefix}.0.0/16`,
    addresses: new PodAddresses(prefix),
  }
}

function nodeObject(node: SimulatedNode, settings: NodeSettings, kubeletPort: number): Node {
  const now = timestamp()
  const resources = {
    cpu: settings.cpu,
    memory: settings.memory,
    pods: String(settings.pods),
    "ephemeral-storage": "1Ti",
  }
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  })
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: node.name,
      labels: { "kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
    spec: { podCIDR: node.podCIDR, podCIDRs: [node.podCIDR], providerID: `simulated://${node.name}` },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: "InternalIP", address: node.hostIP },
        { type: "Hostname", address: node.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      conditions: [
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
      ],
      nodeInfo: {
        architecture: "amd64",
        bootID: "",
        containerRuntimeVersion: "simulated://1.0.0",
        kernelVersion: "simulated",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.0-simulated",
        machineID: "",
        operatingSystem: "linux",
        osImage: "Simulated",
        systemUUID: "",
      },
    },
  } as unknown as Node
}

export interface NodesOptions {
  client: KubeClient
  nodes: readonly SimulatedNode[]
  settings: NodeSettings
  kubeletPort(node: string): number
  log: Log
}

/** Registers the nodes, then renews their leases until disposed. */
export async function startNodes(options: NodesOptions): Promise<AsyncDisposable> {
  for (const node of options.nodes) await register(options, node)
  let renewing = Promise.resolve()
  const renew = (): void => {
    renewing = Promise.all(options.nodes.map(({ name }) => renewLease(options.client, name))).then(
      () => undefined,
      (error: unknown) => options.log.warn({ err: error }, "node leases were not renewed"),
    )
  }
  renew()
  const timer = setInterval(renew, renewMs)
  timer.unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await renewing
    },
  }
}

async function register({ client, settings, kubeletPort }: NodesOptions, node: SimulatedNode): Promise<void> {
  const wanted = nodeObject(node, settings, kubeletPort(node.name))
  const { status, ...spec } = wanted
  try {
    await client.create(nodes, spec)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const current = await client.get<Node>(nodes, undefined, node.name)
  await client.update<Node>(nodes, { ...current, status } as Node, { subresource: "status" })
}

interface Lease extends KubeObject {
  spec: { holderIdentity: string; leaseDurationSeconds: number; renewTime: string }
}

async function renewLease(client: KubeClient, name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp() }
  try {
    await client.patch(leases, "kube-node-lease", name, { spec }, { type: "merge" })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: "kube-node-lease" },
      spec,
    }
    await client.create(leases, lease)
  }
}
