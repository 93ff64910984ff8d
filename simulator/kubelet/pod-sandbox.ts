// One pod on a simulated node: its containers, started in the kubelet's order, and their state. `sync` advances it by one step
// and returns when to call it again; status.ts converts its state to a pod status.

import type { Pod } from "../../apimachinery/object.ts"
import type { Volume } from "../container/file-system.ts"
import { type ContainerPod, PodContainer, type RecordEvent } from "./pod-container.ts"
import { MissingSource, type Sources } from "./sources.ts"
import { prepareVolumes } from "./volumes.ts"

export class PodSandbox implements ContainerPod {
  readonly uid: string
  readonly podIP: string
  readonly startedAt: number
  readonly containers = new Map<string, PodContainer>()
  readonly initContainers = new Map<string, PodContainer>()
  readonly ephemeralContainers = new Map<string, PodContainer>()
  volumes: Map<string, Volume> | undefined
  #pod: Pod
  readonly sources: Sources
  readonly changed: () => void
  readonly recordEvent: RecordEvent
  /** Set if the pod has failed as a whole, regardless of its containers. */
  failure: { reason: string; message: string } | undefined
  #ended = false

  constructor(pod: Pod, podIP: string, sources: Sources, changed: () => void, recordEvent: RecordEvent) {
    this.uid = pod.metadata.uid ?? ""
    this.podIP = podIP
    this.startedAt = sources.now()
    this.#pod = pod
    this.sources = sources
    this.changed = changed
    this.recordEvent = recordEvent
    for (const spec of pod.spec?.initContainers ?? [])
      this.initContainers.set(spec.name, new PodContainer(this, spec, "init"))
    for (const spec of pod.spec?.containers ?? []) this.containers.set(spec.name, new PodContainer(this, spec, "main"))
  }

  get pod(): Pod {
    return this.#pod
  }

  /** No container is restarted: the pod has ended, or is about to. */
  get ended(): boolean {
    return this.#ended
  }

  get running(): boolean {
    return this.#all().some(({ isRunning }) => isRunning)
  }

  find(name: string): PodContainer | undefined {
    return this.containers.get(name) ?? this.initContainers.get(name) ?? this.ephemeralContainers.get(name)
  }

  /** All init containers have completed (or started, if they are sidecars). */
  get initialized(): boolean {
    return [...this.initContainers.values()].every(({ isInitialized }) => isInitialized)
  }

  /** Returns the milliseconds until the next step is due, or undefined if it only depends on `changed`. */
  async sync(pod: Pod): Promise<number | undefined> {
    this.#pod = pod
    if (this.#ended) return undefined
    for (const spec of pod.spec?.containers ?? []) {
      const one = this.containers.get(spec.name)
      if (one !== undefined && one.spec.image !== spec.image) one.replace(spec)
    }
    try {
      this.volumes ??= await prepareVolumes(this.sources, pod, this.podIP)
    } catch (error) {
      if (!(error instanceof MissingSource)) throw error
      this.recordEvent("Warning", "FailedMount", `MountVolume.SetUp failed: ${error.message}`)
      return 1000
    }
    for (const one of this.initContainers.values()) {
      const due = await one.advance()
      if (!one.isInitialized) return due
    }
    for (const spec of pod.spec?.ephemeralContainers ?? []) {
      if (!this.ephemeralContainers.has(spec.name))
        this.ephemeralContainers.set(spec.name, new PodContainer(this, spec, "ephemeral"))
    }
    let next: number | undefined
    for (const one of [...this.containers.values(), ...this.ephemeralContainers.values()]) {
      next = earlier(next, await one.advance())
      if (one.isStarting) break
    }
    return next
  }

  /**
   * Ends the pod for good: its containers have the grace period for their preStop hooks, which another call may shorten. Sidecars end
   * after the containers, the last first. Resolves when all have ended. Source: kuberuntime_termination_order.go of the kubelet.
   */
  async stop(graceSeconds = 0): Promise<void> {
    this.#ended = true
    for (const one of this.#all()) one.end()
    const kill = (one: PodContainer, turn?: Promise<unknown>): Promise<void> =>
      one.kill(graceSeconds, turn === undefined ? {} : { turn })
    const sidecars = [...this.initContainers.values()].filter(({ isSidecar }) => isSidecar).toReversed()
    let turn: Promise<unknown> = Promise.all([...this.containers.values()].map((one) => kill(one)))
    for (const sidecar of sidecars) turn = Promise.all([turn, kill(sidecar, turn)])
    await Promise.all(this.#all().map((one) => (one.isSidecar ? turn : kill(one))))
  }

  async destroy(): Promise<void> {
    this.#ended = true
    for (const one of this.#all()) one.end()
    await Promise.all(this.#all().map((one) => one.destroy()))
  }

  #all(): PodContainer[] {
    return [...this.initContainers.values(), ...this.containers.values(), ...this.ephemeralContainers.values()]
  }
}

export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b)
}
