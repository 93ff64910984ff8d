// The scheduler of the simulated super cluster: one pod at a time, with sums kept per node, bound through the API. Pods that do
// not fit wait until something changes. It only handles pods of default-scheduler, and does not preempt.

import { isFinished } from "../../apimachinery/core/pod-phase.ts"
import { timestamp, type Namespace, type Node, type Pod } from "../../apimachinery/object.ts"
import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { EventRecorder } from "../../client/events.ts"
import type { Informer } from "../../client/informers/informer.ts"
import type { Log } from "../../client/log.ts"
import { persistentVolumeClaims, pods } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { ControlLoop, identify, keyOf, type ObjectKey } from "../control-loop.ts"
import { checkClaims, selectedNodeAnnotation, type ClaimSources } from "./claims.ts"
import { candidate, reasons, type Candidate } from "./filters.ts"
import { NodeState } from "./node-state.ts"
import { createScore } from "./scores.ts"
import { topologyChecks } from "./topology.ts"

const schedulerName = "default-scheduler"
/** Maximum number of concurrent bindings. The selection is synchronous, so each sees the previous ones. */
const workers = 32
/** A pod that does not fit is retried after this time if nothing changes before. */
const retryMs = 30_000

/** The pod must be scheduled by us, now. Gated pods are not queued: removing the gate is an update. */
function isWaiting(pod: Pod): boolean {
  return (
    !pod.spec?.nodeName &&
    (pod.spec?.schedulerName ?? schedulerName) === schedulerName &&
    pod.metadata.deletionTimestamp === undefined &&
    (pod.spec?.schedulingGates ?? []).length === 0
  )
}

interface SchedulerOptions extends ClaimSources {
  client: KubeClient
  pods: Informer<Pod>
  nodes: Informer<Node>
  namespaces: Informer<Namespace>
  recorder: EventRecorder
  log: Log
}

/** The selected node, or why there is none. */
type Choice = { state: NodeState; candidate: Candidate } | { message: string }

export class Scheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions
  readonly #states = new Map<string, NodeState>()
  /** Pods that do not fit anywhere, by namespace/name. */
  readonly #unschedulable = new Map<string, ObjectKey>()
  readonly #loop: ControlLoop

  constructor(options: SchedulerOptions) {
    this.#options = options
    const { log } = options
    const retryAll = (): void => this.#retryAll()
    this.#loop = new ControlLoop({ name: "scheduler", workers, reconcile: (key) => this.#schedule(key), log })
    this.#loop.endFirst(
      options.nodes.subscribe({
        added: (node) => this.#setNode(node),
        updated: (node) => this.#setNode(node),
        deleted: (node) => this.#states.delete(node.metadata.name ?? ""),
      }),
      options.pods.subscribe({
        added: (pod) => this.#observe(pod),
        updated: (pod) => this.#observe(pod),
        deleted: (pod) => this.#forget(pod),
      }),
      options.claims.subscribe({ added: retryAll, updated: retryAll }),
      options.volumes.subscribe({ added: retryAll, updated: retryAll }),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]()
  }

  #setNode(node: Node): void {
    const name = node.metadata.name ?? ""
    const state = this.#states.get(name)
    if (state !== undefined) {
      state.setNode(node)
    } else {
      const created = new NodeState(node)
      this.#states.set(name, created)
      for (const pod of this.#options.pods.list()) if (pod.spec?.nodeName === name && !isFinished(pod)) created.add(pod)
    }
    this.#retryAll()
  }

  #observe(pod: Pod): void {
    if (pod.spec?.nodeName) {
      this.#unschedulable.delete(identify(keyOf(pod)))
      if (isFinished(pod)) this.#forget(pod)
      else this.#states.get(pod.spec.nodeName)?.add(pod)
    } else if (isWaiting(pod)) {
      this.#loop.add(keyOf(pod))
    }
  }

  #forget(pod: Pod): void {
    this.#unschedulable.delete(identify(keyOf(pod)))
    const state = this.#states.get(pod.spec?.nodeName ?? "")
    const uid = pod.metadata.uid ?? ""
    if (state?.has(uid) !== true) return
    state.remove(uid)
    this.#retryAll()
  }

  #retryAll(): void {
    for (const key of this.#unschedulable.values()) this.#loop.add(key)
    this.#unschedulable.clear()
  }

  async #schedule(key: ObjectKey): Promise<ReconcileResult> {
    const pod = this.#options.pods.get(key.namespace, key.name)
    if (pod === undefined || !isWaiting(pod)) return
    const claims = checkClaims(pod, this.#options)
    const choice = "refused" in claims ? { message: `${claims.refused}.` } : this.#choose(pod, [claims.check])
    if ("message" in choice) return this.#reject(key, pod, choice.message)
    const waiting = "refused" in claims ? [] : claims.waiting
    if (waiting.length > 0) {
      this.#unschedulable.set(identify(key), key)
      const annotations = { [selectedNodeAnnotation]: choice.state.name }
      for (const { metadata } of waiting) {
        if (metadata.annotations?.[selectedNodeAnnotation] !== undefined) continue
        const patch = { metadata: { annotations } }
        await this.#options.client.patch(persistentVolumeClaims, metadata.namespace, metadata.name ?? "", patch, {
          type: "merge",
        })
      }
      return { requeueAfterMs: retryMs }
    }
    // Added at once, so that the next selection takes it into account; the informer confirms it later.
    choice.state.add({ ...pod, spec: { ...pod.spec, nodeName: choice.state.name } as Pod["spec"] & object })
    await this.#bind(pod, choice.state)
  }

  #choose(pod: Pod, checks: Candidate["checks"]): Choice {
    const states = [...this.#states.values()]
    if (states.length === 0) return { message: "" }
    const labelsOf = (namespace: string) => this.#options.namespaces.get(undefined, namespace)?.metadata.labels
    const one = candidate(pod, [...checks, ...topologyChecks(pod, states, labelsOf)])
    const score = createScore(one, states)
    const counts = new Map<string, number>()
    let best: { state: NodeState; score: number } | undefined
    for (const state of states) {
      const against = reasons(one, state)
      for (const reason of against) counts.set(reason, (counts.get(reason) ?? 0) + 1)
      if (against.length > 0) continue
      const value = score(state)
      if (best === undefined || value > best.score) best = { state, score: value }
    }
    if (best !== undefined) return { state: best.state, candidate: one }
    const why = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
    return { message: `${why.join(", ")}.` }
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
      if (isNotFound(error) || isConflict(error) || isAlreadyExists(error)) return // deleted, or bound by another client
      throw error
    }
    recorder.event(client, pod, "Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${state.name}`)
  }

  /** Writes the reason to the pod's condition. */
  async #reject(key: ObjectKey, pod: Pod, why: string): Promise<ReconcileResult> {
    const { client, recorder } = this.#options
    this.#unschedulable.set(identify(key), key)
    const message =
      this.#states.size === 0
        ? "no nodes available to schedule pods"
        : `0/${this.#states.size} nodes are available: ${why}`
    const before = pod.status?.conditions?.find(({ type }) => type === "PodScheduled")
    if (before?.status === "False" && before.message === message) return { requeueAfterMs: retryMs }
    recorder.event(client, pod, "Warning", "FailedScheduling", message)
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastProbeTime: null,
      lastTransitionTime:
        before?.status === "False" && before.lastTransitionTime ? before.lastTransitionTime : timestamp(),
      ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    }
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled")
    const status = { ...pod.status, conditions: [...others, condition] }
    try {
      await client.update<Pod>(pods, { ...pod, status } as Pod, { subresource: "status" })
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error // the change arrives through the informer
    }
    return { requeueAfterMs: retryMs }
  }
}
