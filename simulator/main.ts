// A super cluster without machines: nodes, scheduler, kubelets and a volume provisioner, all clients of the super cluster's
// API. With a real super cluster none of this runs.

import type { Node, Pod, Service } from "../apimachinery/object.ts"
import { EventRecorder } from "../client/events.ts"
import { Informer } from "../client/informer.ts"
import { silentLog, type Log } from "../client/log.ts"
import { nodes as nodeResource, pods as podResource, services as serviceResource } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import { Kubelets } from "./kubelet/kubelets.ts"
import type { PodSandbox } from "./kubelet/pod-sandbox.ts"
import { defaultNodeSettings, simulatedNode, startNodes, type NodeSettings } from "./nodes.ts"
import { Scheduler } from "./scheduler/scheduler.ts"
import { startProvisioner } from "./storage.ts"

export interface SimulatorOptions {
  /** The super cluster, as an administrator. */
  client: KubeClient
  /** How many nodes: "node-1", "node-2", … at most 100. */
  nodes: number
  settings?: Partial<NodeSettings>
  /** Where the kubelet API of a node is served. */
  kubeletPort(node: string): number
  log?: Log
}

export interface Simulator extends AsyncDisposable {
  /** The containers of a pod, if it runs on that node. */
  sandbox(node: string, namespace: string, pod: string): PodSandbox | undefined
}

export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => simulatedNode(index).name)
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { client, log = silentLog } = options
  const stopped = new AbortController()
  const nodes = Array.from({ length: options.nodes }, (_, index) => simulatedNode(index))
  const registered = await startNodes({
    client,
    nodes,
    settings: { ...defaultNodeSettings, ...options.settings },
    kubeletPort: options.kubeletPort,
    log,
  })
  const pods = new Informer<Pod>(client, podResource, { log })
  const nodeInformer = new Informer<Node>(client, nodeResource, { log })
  const services = new Informer<Service>(client, serviceResource, { log })
  await Promise.all([pods.start(stopped.signal), nodeInformer.start(stopped.signal), services.start(stopped.signal)])
  const scheduler = new Scheduler({
    client,
    pods,
    nodes: nodeInformer,
    recorder: new EventRecorder({ component: "default-scheduler", log }),
    log,
  })
  const kubelets = new Kubelets({
    client,
    pods,
    sources: { client, services, now: () => Date.now() },
    nodes: new Map(nodes.map((node) => [node.name, node])),
    recorder: new EventRecorder({ component: "kubelet", log }),
    log,
  })
  const provisioning = startProvisioner(client, log, stopped.signal)
  return {
    sandbox: (node, namespace, pod) => kubelets.sandbox(node, namespace, pod),
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await scheduler[Symbol.asyncDispose]()
      await kubelets[Symbol.asyncDispose]()
      await registered[Symbol.asyncDispose]()
      await provisioning
    },
  }
}
