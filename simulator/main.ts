// A super cluster without machines: nodes, scheduler, kubelets and a volume provisioner, all of them clients of the super
// cluster's API. They are not used with a real super cluster.

import type {
  KubeObject,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
  StorageClass,
} from "../apimachinery/object.ts"
import { EventRecorder } from "../client/events.ts"
import { Informer } from "../client/informers/informer.ts"
import { silentLog, type Log } from "../client/log.ts"
import * as resources from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { Kubelets } from "./kubelet/kubelets.ts"
import type { PodSandbox } from "./kubelet/pod-sandbox.ts"
import { ServiceAccountTokens } from "./kubelet/sources.ts"
import {
  defaultNodeSettings,
  maxNodes,
  simulatedNode,
  startNodes,
  type NodeSettings,
  type SimulatedNode,
} from "./nodes.ts"
import { Scheduler } from "./scheduler/scheduler.ts"
import { createDefaultClass, provisioner, Storage } from "./storage.ts"

interface SimulatorOptions {
  /** An administrator's client of the super cluster. */
  client: KubeClient
  /** Number of nodes: "node-1", "node-2", … at most 100 (maxNodes). */
  nodes: number
  settings?: Partial<NodeSettings>
  /** The port of a node's kubelet API. */
  kubeletPort: (node: string) => number
  log?: Log
}

export interface Simulator extends AsyncDisposable {
  /** The sandbox of a pod, if it runs on that node. */
  sandbox(node: string, namespace: string, pod: string): PodSandbox | undefined
}

export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => simulatedNode(index).name)
}

/** Resolves when the nodes exist. It does not wait for the initial lists, after which pods run. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { client, log = silentLog } = options
  if (options.nodes > maxNodes) throw new Error(`a simulated super cluster has at most ${maxNodes} nodes`)
  await using started = new AsyncDisposableStack()
  const nodes = Array.from({ length: options.nodes }, (_, index) => simulatedNode(index))
  const settings = { ...defaultNodeSettings, ...options.settings }
  started.use(await startNodes({ client, nodes, settings, kubeletPort: options.kubeletPort, log }))
  await createDefaultClass(client)

  const stopped = new AbortController()
  const running = started.move()
  let kubelets: Kubelets | undefined
  const working = work(options, nodes, running, stopped.signal).then(
    (made) => {
      kubelets = made
    },
    (error: unknown) => log.error({ err: error }, "the simulated super cluster stopped"),
  )
  return {
    sandbox: (node, namespace, pod) => kubelets?.sandbox(node, namespace, pod),
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await working
      await running.disposeAsync()
    },
  }
}

/** Starts scheduler, volumes and kubelets, owned by `started`. Undefined if the signal ended before they started. */
async function work(
  { client, log = silentLog }: SimulatorOptions,
  nodes: readonly SimulatedNode[],
  started: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Kubelets | undefined> {
  const informer = <T extends KubeObject>(resource: Resource): Informer<T> => new Informer<T>(client, resource, { log })
  const watched = {
    pods: informer<Pod>(resources.pods),
    nodes: informer<Node>(resources.nodes),
    namespaces: informer<Namespace>(resources.namespaces),
    services: informer<Service>(resources.services),
    claims: informer<PersistentVolumeClaim>(resources.persistentVolumeClaims),
    volumes: informer<PersistentVolume>(resources.persistentVolumes),
    classes: informer<StorageClass>(resources.storageClasses),
  }
  await Promise.all(Object.values(watched).map((one) => one.start(signal)))
  if (signal.aborted) return undefined

  const recorder = (component: string): EventRecorder => new EventRecorder({ component, log })
  const expander = recorder("volume_expand")
  const resizer = recorder(`external-resizer ${provisioner}`)
  started.use(new Storage({ ...watched, client, recorder: recorder(provisioner), expander, resizer, log }))
  started.use(new Scheduler({ ...watched, client, recorder: recorder("default-scheduler"), log }))
  return started.use(
    new Kubelets({
      client,
      pods: watched.pods,
      sources: {
        client,
        services: watched.services,
        tokens: new ServiceAccountTokens(client, Date.now),
        now: Date.now,
      },
      nodes: new Map(nodes.map((node) => [node.name, node])),
      recorder: recorder("kubelet"),
      log,
    }),
  )
}
