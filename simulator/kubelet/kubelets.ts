// The kubelets of all simulated nodes: they run pods bound to their nodes, write pod statuses, and end deleted pods. One
// reconcile per pod, level-triggered by the pod informer and by changes in the sandboxes.

import { isDeepStrictEqual } from "node:util"
import { isFinished } from "../../apimachinery/core/pod-phase.ts"
import type { Pod } from "../../apimachinery/object.ts"
import { isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { EventRecorder } from "../../client/events.ts"
import type { Informer } from "../../client/informers/informer.ts"
import type { Log } from "../../client/log.ts"
import { pods } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import { ControlLoop, identify, keyOf, type ObjectKey } from "../control-loop.ts"
import type { SimulatedNode } from "../nodes.ts"
import { graceSecondsOf } from "./pod-container.ts"
import { earlier, PodSandbox } from "./pod-sandbox.ts"
import type { Sources } from "./sources.ts"
import { isOver, podStatus } from "./status.ts"
import { refreshVolumes } from "./volumes.ts"

const workers = 32
/** How often volumes are updated from their ConfigMaps and Secrets. */
const refreshMs = 30_000

interface KubeletsOptions {
  client: KubeClient
  pods: Informer<Pod>
  sources: Sources
  nodes: ReadonlyMap<string, SimulatedNode>
  recorder: EventRecorder
  log: Log
}

export class Kubelets implements AsyncDisposable {
  readonly #options: KubeletsOptions
  /** The running pods by namespace/name. */
  readonly #sandboxes = new Map<string, PodSandbox>()
  readonly #loop: ControlLoop
  readonly #refresher: NodeJS.Timeout

  constructor(options: KubeletsOptions) {
    this.#options = options
    const enqueue = (pod: Pod): void => {
      if (pod.spec?.nodeName) this.#loop.add(keyOf(pod))
    }
    const { log } = options
    this.#loop = new ControlLoop({ name: "kubelet", workers, reconcile: (key) => this.#reconcile(key), log })
    this.#loop.endFirst(options.pods.subscribe({ added: enqueue, updated: enqueue, deleted: enqueue }))
    this.#refresher = setInterval(() => void this.#refresh(), refreshMs)
    this.#refresher.unref()
  }

  /** The sandbox of a pod on that node, for the kubelet's HTTP API. */
  sandbox(node: string, namespace: string, name: string): PodSandbox | undefined {
    const found = this.#sandboxes.get(identify({ namespace, name }))
    return found?.pod.spec?.nodeName === node ? found : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#refresher)
    await this.#loop[Symbol.asyncDispose]()
    await Promise.all([...this.#sandboxes.values()].map((sandbox) => sandbox.destroy()))
  }

  async #reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const id = identify(key)
    const pod = this.#options.pods.get(key.namespace, key.name)
    let sandbox = this.#sandboxes.get(id)
    if (sandbox !== undefined && sandbox.uid !== pod?.metadata.uid) {
      await this.#remove(id, sandbox)
      sandbox = undefined
    }
    const node = pod === undefined ? undefined : this.#options.nodes.get(pod.spec?.nodeName ?? "")
    if (pod === undefined || node === undefined) return
    if (pod.metadata.deletionTimestamp !== undefined) return this.#end(id, pod, sandbox, node)
    if (isFinished(pod)) {
      // Whether the kubelet or another client (an eviction) has set the phase, the pod must not run any more.
      if (sandbox?.running === true) {
        void sandbox.stop(graceSecondsOf(pod))
        await this.#report(pod, sandbox, node)
      }
      return
    }
    if (sandbox === undefined) {
      const podIP = node.addresses.allocate(pod.metadata.uid ?? "", pod.status?.podIP)
      if (podIP === undefined) {
        this.#options.recorder.event(
          this.#options.client,
          pod,
          "Warning",
          "FailedCreatePodSandBox",
          "no free address in the node's range",
        )
        return { requeueAfterMs: 1000 }
      }
      sandbox = new PodSandbox(
        pod,
        podIP,
        this.#options.sources,
        () => this.#loop.add(key),
        (type, reason, message) => this.#options.recorder.event(this.#options.client, pod, type, reason, message),
      )
      this.#sandboxes.set(id, sandbox)
    }
    const due = earlier(await sandbox.sync(pod), await this.#deadline(pod, sandbox))
    if (!sandbox.ended && sandbox.running && isOver(sandbox)) void sandbox.stop(graceSecondsOf(pod))
    await this.#report(pod, sandbox, node)
    if (due !== undefined) return { requeueAfterMs: due }
  }

  /** spec.activeDeadlineSeconds: a pod that runs longer fails. Returns the milliseconds until then. */
  async #deadline(pod: Pod, sandbox: PodSandbox): Promise<number | undefined> {
    const seconds = pod.spec?.activeDeadlineSeconds
    if (seconds === undefined || sandbox.failure !== undefined) return undefined
    const started = pod.status?.startTime === undefined ? sandbox.startedAt : Date.parse(pod.status.startTime)
    const left = started + seconds * 1000 - this.#options.sources.now()
    if (left > 0) return left
    const message = "Pod was active on the node longer than the specified deadline"
    this.#options.recorder.event(this.#options.client, pod, "Normal", "DeadlineExceeded", message)
    sandbox.failure = { reason: "DeadlineExceeded", message }
    void sandbox.stop(graceSecondsOf(pod))
    return undefined
  }

  async #report(pod: Pod, sandbox: PodSandbox, node: SimulatedNode): Promise<void> {
    const status = podStatus(sandbox, node.hostIP, this.#options.sources.now())
    if (isDeepStrictEqual(status, pod.status)) return
    try {
      await this.#options.client.update<Pod>(pods, { ...pod, status }, { subresource: "status" })
    } catch (error) {
      // Another client wrote first: its change arrives through the informer and triggers a reconcile.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  async #end(id: string, pod: Pod, sandbox: PodSandbox | undefined, node: SimulatedNode): Promise<void> {
    if (sandbox !== undefined) {
      void sandbox.stop(pod.metadata.deletionGracePeriodSeconds)
      const isOver = !sandbox.running
      await this.#report(pod, sandbox, node)
      if (!isOver) return // continues when its containers have ended
      this.#sandboxes.delete(id)
    }
    node.addresses.release(pod.metadata.uid ?? "")
    this.#options.sources.tokens.forget(pod.metadata.uid ?? "")
    try {
      await this.#options.client.delete(pods, pod.metadata.namespace, pod.metadata.name ?? "", {
        gracePeriodSeconds: 0,
        ...(pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }),
      })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error // already deleted, or another pod with that name
    }
  }

  async #remove(id: string, sandbox: PodSandbox): Promise<void> {
    this.#sandboxes.delete(id)
    this.#options.nodes.get(sandbox.pod.spec?.nodeName ?? "")?.addresses.release(sandbox.uid)
    this.#options.sources.tokens.forget(sandbox.uid)
    await sandbox.stop()
  }

  async #refresh(): Promise<void> {
    for (const sandbox of this.#sandboxes.values()) {
      if (sandbox.volumes === undefined) continue
      await refreshVolumes(this.#options.sources, sandbox.pod, sandbox.podIP, sandbox.volumes).catch(
        (error: unknown) => {
          this.#options.log.debug({ err: error, pod: sandbox.pod.metadata.name }, "pod files not refreshed")
        },
      )
    }
  }
}
