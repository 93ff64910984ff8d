// One pod on a simulated node: its containers, started in the kubelet's order, and their state. `sync` advances it by one step
// and returns when to call it again; status.ts converts its state to a pod status.

import { randomBytes } from "node:crypto"
import type { Container, Pod } from "../../apimachinery/object.ts"
import { SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { ProbeWorker } from "./probes.ts"
import { environmentOf, hostnameOf, MissingSource, substitute, type Sources } from "./sources.ts"
import { mountsOf, ownFiles, prepareVolumes } from "./volumes.ts"

/** CrashLoopBackOff: doubled with every restart, reset after a run of ten minutes. */
const backOff = { baseMs: 10_000, maxMs: 300_000, forgetMs: 600_000 }

export type RecordEvent = (type: "Normal" | "Warning", reason: string, message: string) => void

/** The state of one container of the pod. */
export interface ContainerRecord {
  spec: Container
  current: SimulatedContainer | undefined
  /** The previous run, for `kubectl logs --previous`. */
  previous: SimulatedContainer | undefined
  restarts: number
  /** The reason why it does not run: ContainerCreating, PodInitializing, CrashLoopBackOff, CreateContainerConfigError. */
  waiting: { reason: string; message?: string } | undefined
  /** Not restarted before this time (ms since the epoch). */
  retryAt: number
  started: boolean
  ready: boolean
}

export class PodSandbox {
  readonly uid: string
  readonly podIP: string
  readonly startedAt: number
  readonly containers = new Map<string, ContainerRecord>()
  readonly initContainers = new Map<string, ContainerRecord>()
  readonly ephemeralContainers = new Map<string, ContainerRecord>()
  volumes: Map<string, Volume> | undefined
  #pod: Pod
  readonly #sources: Sources
  readonly #changed: () => void
  readonly #recordEvent: RecordEvent
  readonly #probes = new Map<string, ProbeWorker>()
  /** Set if the pod has failed as a whole, regardless of its containers. */
  failure: { reason: string; message: string } | undefined
  #ended = false

  constructor(pod: Pod, podIP: string, sources: Sources, changed: () => void, recordEvent: RecordEvent) {
    this.uid = pod.metadata.uid ?? ""
    this.podIP = podIP
    this.startedAt = sources.now()
    this.#pod = pod
    this.#sources = sources
    this.#changed = changed
    this.#recordEvent = recordEvent
    for (const spec of pod.spec?.initContainers ?? [])
      this.initContainers.set(spec.name, record(spec, "PodInitializing", pod))
    for (const spec of pod.spec?.containers ?? [])
      this.containers.set(spec.name, record(spec, "ContainerCreating", pod))
  }

  get pod(): Pod {
    return this.#pod
  }

  /** Stopped for good: the pod has ended, or is about to. */
  get ended(): boolean {
    return this.#ended
  }

  get running(): boolean {
    return this.runningNames.length > 0
  }

  get runningNames(): string[] {
    const running = this.#all().filter(({ current }) => current !== undefined && current.exit === undefined)
    return running.map(({ spec }) => spec.name)
  }

  find(name: string): ContainerRecord | undefined {
    return this.containers.get(name) ?? this.initContainers.get(name) ?? this.ephemeralContainers.get(name)
  }

  /** All init containers have completed (or started, if they are sidecars). */
  get initialized(): boolean {
    return [...this.initContainers.values()].every((one) =>
      isSidecar(one) ? one.started : one.current?.exit?.code === 0,
    )
  }

  /** Returns the milliseconds until the next step is due, or undefined if it only depends on `changed`. */
  async sync(pod: Pod): Promise<number | undefined> {
    this.#pod = pod
    if (this.#ended) return undefined
    for (const spec of pod.spec?.containers ?? []) {
      const one = this.containers.get(spec.name)
      if (one !== undefined && one.spec.image !== spec.image) this.#replace(one, spec)
    }
    try {
      this.volumes ??= await prepareVolumes(this.#sources, pod, this.podIP)
    } catch (error) {
      if (!(error instanceof MissingSource)) throw error
      this.#recordEvent("Warning", "FailedMount", `MountVolume.SetUp failed: ${error.message}`)
      return 1000
    }
    for (const one of this.initContainers.values()) {
      const due = await this.#advance(one)
      if (isSidecar(one) ? !one.started : one.current?.exit?.code !== 0) return due
    }
    let next: number | undefined
    for (const one of this.containers.values()) next = earlier(next, await this.#advance(one))
    for (const spec of pod.spec?.ephemeralContainers ?? []) {
      if (!this.ephemeralContainers.has(spec.name))
        this.ephemeralContainers.set(spec.name, record(spec, "ContainerCreating", pod))
    }
    for (const one of this.ephemeralContainers.values())
      if (one.current === undefined) next = earlier(next, await this.#start(one))
    return next
  }

  /** Stops all containers; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#ended = true
    for (const probe of this.#probes.values()) probe.stop()
    const started = this.#all().flatMap((one) => {
      if (one.current !== undefined) one.waiting = undefined // it is not retried
      return one.current ?? []
    })
    await Promise.all(started.map((container) => container.stop()))
  }

  #all(): ContainerRecord[] {
    return [...this.initContainers.values(), ...this.containers.values(), ...this.ephemeralContainers.values()]
  }

  async #advance(one: ContainerRecord): Promise<number | undefined> {
    const { current } = one
    if (current === undefined || (current.exit !== undefined && this.#restarts(one, current.exit.code))) {
      const now = this.#sources.now()
      if (one.retryAt > now) return one.retryAt - now
      return this.#start(one)
    }
    return undefined
  }

  #restarts(one: ContainerRecord, code: number): boolean {
    const isInit = this.initContainers.has(one.spec.name)
    if (this.ephemeralContainers.has(one.spec.name)) return false
    if (isSidecar(one)) return true
    const policy = this.#pod.spec?.restartPolicy ?? "Always"
    if (isInit) return code !== 0 && policy !== "Never"
    return policy === "Always" || (policy === "OnFailure" && code !== 0)
  }

  async #start(one: ContainerRecord): Promise<number | undefined> {
    const { spec } = one
    let environment: Record<string, string>
    let command: string[]
    try {
      environment = await environmentOf(this.#sources, this.#pod, spec, this.podIP)
      command = [...(spec.command ?? []), ...(spec.args ?? [])].map((word) => substitute(word, environment))
    } catch (error) {
      if (!(error instanceof MissingSource)) throw error
      one.waiting = { reason: "CreateContainerConfigError", message: error.message }
      this.#recordEvent("Warning", "Failed", `Error: ${error.message}`)
      one.retryAt = this.#sources.now() + 1000
      return 1000
    }
    const hostname = hostnameOf(this.#pod)
    if (one.current === undefined)
      this.#recordEvent("Normal", "Pulled", `Container image "${spec.image ?? ""}" already present on machine`)
    this.#recordEvent("Normal", "Created", `Container created`)
    const container = new SimulatedContainer(`containerd://${randomBytes(32).toString("hex")}`, {
      name: spec.name,
      image: spec.image ?? "",
      command,
      environment,
      files: new FileSystem(
        new Volume(ownFiles(this.#pod, hostname, this.podIP)),
        mountsOf(spec, this.volumes ?? new Map()),
      ),
      hostname,
      workingDir: spec.workingDir === undefined || spec.workingDir === "" ? "/" : spec.workingDir,
      ports: (spec.ports ?? []).filter(({ protocol }) => protocol !== "UDP").map(({ containerPort }) => containerPort),
      stdin: spec.stdin === true,
      stdinOnce: spec.stdinOnce === true,
      tty: spec.tty === true,
      ends: this.initContainers.has(spec.name) && !isSidecar(one),
    })
    if (one.current !== undefined) {
      one.previous = one.current
      one.restarts++
    }
    one.current = container
    one.waiting = undefined
    this.#recordEvent("Normal", "Started", `Container started`)
    this.#probe(one, container)
    container.ended.then(
      (code) => this.#onExit(one, container, code),
      () => this.#onExit(one, container, 128), // an error of the simulation itself ends the container like a failed start
    )
    return undefined
  }

  #probe(one: ContainerRecord, container: SimulatedContainer): void {
    this.#probes.get(one.spec.name)?.stop()
    const { readinessProbe, livenessProbe, startupProbe } = one.spec
    one.started = !startupProbe
    one.ready = !startupProbe && !readinessProbe
    if (!readinessProbe && !livenessProbe && !startupProbe) return
    this.#probes.set(
      one.spec.name,
      new ProbeWorker(one.spec, container, {
        started: () => {
          one.started = true
          if (!readinessProbe) one.ready = true
          this.#changed()
        },
        ready: (ready) => {
          one.ready = ready
          this.#changed()
        },
        unhealthy: (kind, message, dead) => {
          this.#recordEvent("Warning", "Unhealthy", `${kind} probe failed: ${message}`)
          if (!dead) return
          this.#recordEvent(
            "Normal",
            "Killing",
            `Container ${one.spec.name} failed ${kind.toLowerCase()} probe, will be restarted`,
          )
          void container.stop()
        },
      }),
    )
  }

  #onExit(one: ContainerRecord, container: SimulatedContainer, code: number): void {
    if (one.current !== container) return
    this.#probes.get(one.spec.name)?.stop()
    one.ready = false
    one.started = false
    if (!this.#ended && this.#restarts(one, code)) {
      const now = this.#sources.now()
      const ranLongEnough = now - container.startedAt > backOff.forgetMs
      const delay =
        ranLongEnough || one.restarts === 0 ? 0 : Math.min(backOff.baseMs * 2 ** (one.restarts - 1), backOff.maxMs)
      one.retryAt = now + delay
      if (delay > 0) {
        one.waiting = {
          reason: "CrashLoopBackOff",
          message: `back-off ${delay / 1000}s restarting failed container=${one.spec.name} pod=${this.#pod.metadata.name ?? ""}_${this.#pod.metadata.namespace ?? ""}(${this.uid})`,
        }
        this.#recordEvent(
          "Warning",
          "BackOff",
          `Back-off restarting failed container ${one.spec.name} in pod ${this.#pod.metadata.name ?? ""}_${this.#pod.metadata.namespace ?? ""}(${this.uid})`,
        )
      }
    }
    this.#changed()
  }

  /** An update has changed the image: the container is recreated. */
  #replace(one: ContainerRecord, spec: Container): void {
    one.spec = spec
    this.#recordEvent("Normal", "Killing", `Container ${spec.name} definition changed, will be restarted`)
    void one.current?.stop()
    one.retryAt = 0
  }
}

/** The state of a container that has not started. Restart counts survive a restart of the kubelet. */
function record(spec: Container, reason: string, pod: Pod): ContainerRecord {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const before = statuses.find(({ name, containerID }) => name === spec.name && containerID)
  // A container that ran in an earlier simulator process is recreated: that counts as a restart.
  const restarts = before === undefined ? 0 : before.restartCount + 1
  return {
    spec,
    current: undefined,
    previous: undefined,
    restarts,
    waiting: { reason },
    retryAt: 0,
    started: false,
    ready: false,
  }
}

export const isSidecar = (one: ContainerRecord): boolean => one.spec.restartPolicy === "Always"

export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b)
}
