// Nodes without machines: Node objects with capacity, conditions and addresses. Like kubelets since 1.17, they send heartbeats by
// renewing Leases (kube-node-lease) instead of writing the Node.

import { microTimestamp, timestamp, type KubeObject, type Node } from "../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../apimachinery/status.ts"
import type { Log } from "../client/log.ts"
import { leases, nodes } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"

/** The kubelet's nodeLeaseDurationSeconds; it renews at a quarter of it. */
const leaseSeconds = 40
const leaseNamespace = "kube-node-lease"
const renewMs = 10_000
/** The kubelet's nodeStatusReportFrequency: how often the Node itself is written if nothing changes. */
const reportMs = 300_000
/** The kubelet's nodeStatusUpdateRetry: how often it retries if others write the Node at the same time. */
const statusTries = 5
/** Each has a /16 of 10.128.0.0/9. */
export const maxNodes = 100

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
class PodAddresses {
  readonly #prefix: string
  readonly #byOwner = new Map<string, string>()
  readonly #taken = new Set<string>()
  #next = 1

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** `wanted`: the pod's address before a restart. Undefined if none is free. */
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
      declaredFeatures: ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"],
    },
  }
}

interface NodesOptions {
  client: KubeClient
  nodes: readonly SimulatedNode[]
  settings: NodeSettings
  kubeletPort: (node: string) => number
  log: Log
}

/** Registers the nodes, then renews their leases and occasionally their status, until disposed. */
export async function startNodes(options: NodesOptions): Promise<AsyncDisposable> {
  const { client, nodes: all, log } = options
  for (const node of all) await register(options, node)
  const renew = (): Promise<unknown> => Promise.all(all.map(({ name }) => renewLease(client, name)))
  await renew()
  const timers = [
    every(renewMs, renew, log, "leases"),
    every(reportMs, () => Promise.all(all.map((node) => report(options, node))), log, "status"),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(timers.map((stop) => stop()))
    },
  }
}

/** Calls periodically, one call at a time; failures are logged. Returns a function that stops it. */
function every(ms: number, call: () => Promise<unknown>, log: Log, what: string): () => Promise<void> {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= call().then(
      () => void (running = undefined),
      (error: unknown) => {
        running = undefined
        log.warn({ err: error }, `node ${what} not renewed`)
      },
    )
  }, ms)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

async function register(options: NodesOptions, node: SimulatedNode): Promise<void> {
  const { client, settings, kubeletPort } = options
  const { status: _, ...wanted } = nodeObject(node, settings, kubeletPort(node.name))
  try {
    await client.create(nodes, wanted)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  await report(options, node)
  await retryOnConflict(() => removeStartupTaint(client, node.name))
}

/**
 * Other clients write Nodes too, especially new ones: on a conflict reads and writes again, and finally fails with the last
 * conflict.
 */
async function retryOnConflict(write: () => Promise<void>): Promise<void> {
  for (let left = statusTries; ; left--) {
    try {
      return await write()
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error
    }
  }
}

/**
 * Nodes are created with a taint (admission plugin TaintNodesByCondition) that the node lifecycle controller removes when they
 * are ready. Here the nodes are ready at once, and no such controller runs.
 */
async function removeStartupTaint(client: KubeClient, name: string): Promise<void> {
  const node = await client.get<Node>(nodes, undefined, name)
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== "node.kubernetes.io/not-ready")
  if (taints.length === (node.spec?.taints ?? []).length) return
  await client.update<Node>(nodes, { ...node, spec: { ...node.spec, taints } })
}

/** A Node that was deleted remains deleted until the next start, as with a real kubelet. */
async function report(options: NodesOptions, node: SimulatedNode): Promise<void> {
  try {
    await retryOnConflict(() => writeStatus(options, node))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function writeStatus({ client, settings, kubeletPort }: NodesOptions, node: SimulatedNode): Promise<void> {
  const current = await client.get<Node>(nodes, undefined, node.name)
  const { status } = nodeObject(node, settings, kubeletPort(node.name))
  const conditions = status?.conditions?.map((condition) => {
    const before = current.status?.conditions?.find(({ type }) => type === condition.type)
    const since = before?.status === condition.status ? before?.lastTransitionTime : undefined
    return { ...condition, lastTransitionTime: since ?? condition.lastTransitionTime }
  })
  const written = { ...current, status: { ...current.status, ...status, conditions } } as Node
  await client.update(nodes, written, { subresource: "status" })
}

interface Lease extends KubeObject {
  spec: { holderIdentity: string; leaseDurationSeconds: number; renewTime: string }
}

async function renewLease(client: KubeClient, name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: microTimestamp() }
  try {
    await client.patch(leases, leaseNamespace, name, { spec }, { type: "merge" })
  } catch (error) {
    if (!isNotFound(error)) throw error
    const node = await client.get<Node>(nodes, undefined, name).catch((fault: unknown) => {
      if (isNotFound(fault)) return undefined
      throw fault
    })
    if (node === undefined) return // deleted
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        namespace: leaseNamespace,
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid: node.metadata.uid ?? "" }],
      },
      spec,
    }
    await client.create(leases, lease)
  }
}
