// The scheduler of the simulated super cluster: one pod at a time, against sums kept per node, bound through the API. What
// does not fit waits until something changes. Only pods that name default-scheduler are its own.

import { timestamp, type Node, type Pod } from "../../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { EventRecorder } from "../../client/events.ts"
import type { Informer } from "../../client/informer.ts"
import type { Log } from "../../client/log.ts"
import { pods } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { FairQueue } from "../../client/workqueue/fair-queue.ts"
import { runWorkers } from "../../client/workqueue/workers.ts"
import { candidate, reasons, type Candidate } from "./filters.ts"
import { NodeState } from "./node-state.ts"

const schedulerName = "default-scheduler"
/** Bindings under way at the same time. Choosing is synchronous: each sees the choices before it. */
const workers = 32
/** A pod that does not fit is looked at again after this, if nothing changes before. */
const retryMs = 30_000

interface PodKey {
  namespace: string
  name: string
}

const keyOf = (pod: Pod): PodKey => ({ namespace: pod.metadata.namespace ?? "", name: pod.metadata.name ?? "" })
const isOver = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"

export interface SchedulerOptions {
  client: KubeClient
  pods: Informer<Pod>
  nodes: Informer<Node>
  recorder: EventRecorder
  log: Log
}

export class Scheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions
  readonly #states = new Map<string, NodeState>()
  /** Pods that fitted nowhere, by namespace/name. */
  readonly #unschedulable = new Map<string, PodKey>()
  readonly #queue = new FairQueue<PodKey>({
    identify: ({ namespace, name }) => `${namespace}/${name}`,
    group: ({ namespace }) => namespace,
  })
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>

  constructor(options: SchedulerOptions) {
    this.#options = options
    options.nodes.subscribe({
      added: (node) => this.#setNode(node),
      updated: (node) => this.#setNode(node),
      deleted: (node) => this.#states.delete(node.metadata.name ?? ""),
    })
    options.pods.subscribe({
      added: (pod) => this.#observe(pod),
      updated: (pod) => this.#observe(pod),
      deleted: (pod) => this.#forget(pod),
    })
    this.#running = runWorkers({
      queue: this.#queue,
      workers,
      reconcile: (key) => this.#schedule(key),
      name: "scheduler",
      log: options.log,
      signal: this.#stopped.signal,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort()
    await this.#running
    this.#queue[Symbol.dispose]()
  }

  #setNode(node: Node): void {
    const name = node.metadata.name ?? ""
    const state = this.#states.get(name)
    if (state !== undefined) {
      state.setNode(node)
    } else {
      const created = new NodeState(node)
      this.#states.set(name, created)
      for (const pod of this.#options.pods.list()) if (pod.spec?.nodeName === name && !isOver(pod)) created.add(pod)
    }
    this.#retryAll()
  }

  #observe(pod: Pod): void {
    if (pod.spec?.nodeName) {
      const state = this.#states.get(pod.spec.nodeName)
      if (isOver(pod)) this.#forget(pod)
      else state?.add(pod)
    } else if (
      (pod.spec?.schedulerName ?? schedulerName) === schedulerName &&
      pod.metadata.deletionTimestamp === undefined
    ) {
      this.#queue.add(keyOf(pod))
    }
  }

  #forget(pod: Pod): void {
    this.#unschedulable.delete(`${pod.metadata.namespace ?? ""}/${pod.metadata.name ?? ""}`)
    const state = this.#states.get(pod.spec?.nodeName ?? "")
    if (state?.pods.has(pod.metadata.uid ?? "") !== true) return
    state.remove(pod.metadata.uid ?? "")
    this.#retryAll()
  }

  #retryAll(): void {
    for (const key of this.#unschedulable.values()) this.#queue.add(key)
    this.#unschedulable.clear()
  }

  async #schedule(key: PodKey): Promise<{ requeueAfterMs: number } | void> {
    const pod = this.#options.pods.get(key.namespace, key.name)
    if (pod === undefined || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined) return
    if ((pod.spec?.schedulingGates ?? []).length > 0) return
    const one = candidate(pod)
    const counts = new Map<string, number>()
    let best: { state: NodeState; score: number } | undefined
    for (const state of this.#states.values()) {
      const against = reasons(one, state)
      for (const reason of against) counts.set(reason, (counts.get(reason) ?? 0) + 1)
      if (against.length > 0) continue
      const score = scoreOf(one, state)
      if (best === undefined || score > best.score) best = { state, score }
    }
    if (best === undefined) return this.#reject(key, pod, counts)
    best.state.add({ ...pod, spec: { ...pod.spec, nodeName: best.state.name } as Pod["spec"] & object }) // assumed until the informer says so
    await this.#bind(pod, best.state)
  }

  async #bind(pod: Pod, state: NodeState): Promise<void> {
    const { client, recorder } = this.#options
    const { namespace = "", name = "", uid = "" } = pod.metadata
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace, name, uid },
      target: { apiVersion: "v1", kind: "Node", name: state.name },
    }
    try {
      await client.create(pods, binding, { subresource: "binding" })
    } catch (error) {
      state.remove(uid)
      if (isNotFound(error) || isConflict(error) || isAlreadyExists(error)) return // gone or bound by somebody else
      throw error
    }
    recorder.event(client, pod, "Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${state.name}`)
  }

  async #reject(key: PodKey, pod: Pod, counts: ReadonlyMap<string, number>): Promise<{ requeueAfterMs: number }> {
    const { client, recorder } = this.#options
    this.#unschedulable.set(`${key.namespace}/${key.name}`, key)
    const why = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
    const message = `0/${this.#states.size} nodes are available${why.length === 0 ? "." : `: ${why.join(", ")}.`}`
    const before = pod.status?.conditions?.find(({ type }) => type === "PodScheduled")
    if (before?.status === "False" && before.message === message) return { requeueAfterMs: retryMs }
    recorder.event(client, pod, "Warning", "FailedScheduling", message)
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastTransitionTime:
        before?.status === "False" && before.lastTransitionTime ? before.lastTransitionTime : timestamp(),
    }
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled")
    try {
      await client.update<Pod>(pods, { ...pod, status: { ...pod.status, conditions: [...others, condition] } } as Pod, {
        subresource: "status",
      })
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error // its change comes by the informer
    }
    return { requeueAfterMs: retryMs }
  }
}

/** Higher is better: few siblings of the same owner, then much that is free. */
function scoreOf({ pod, requests }: Candidate, state: NodeState): number {
  const owner = pod.metadata.ownerReferences?.[0]?.uid
  const siblings = owner === undefined ? 0 : (state.owners.get(owner) ?? 0)
  let free = 0
  for (const name of ["cpu", "memory"]) {
    const allocatable = state.allocatable.get(name) ?? 0
    if (allocatable > 0) free += 1 - ((state.requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / allocatable
  }
  return free - siblings - state.pods.size / 1000
}
