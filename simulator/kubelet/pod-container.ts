// One container of a pod over all its runs: starts it, runs its probes and lifecycle hooks, and delays its restarts.

import { randomBytes } from "node:crypto"
import { mayRestart } from "../../apimachinery/core/container-restarts.ts"
import type { Container, Pod } from "../../apimachinery/object.ts"
import { endsWithin, systemClock } from "../../client/clock.ts"
import { SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { type Hook, printHook, runHandler } from "./handlers.ts"
import { ProbeWorker } from "./probes.ts"
import { restartDelayMs, restartsBefore } from "./restarts.ts"
import { environmentOf, hostnameOf, MissingSource, type Sources, substitute } from "./sources.ts"
import { mountsOf, ownFiles } from "./volumes.ts"

const defaultGraceSeconds = 30
const creating = "ContainerCreating"

export type RecordEvent = (type: "Normal" | "Warning", reason: string, message: string) => void

/** The pod that a container belongs to. */
export interface ContainerPod {
  readonly pod: Pod
  readonly podIP: string
  readonly sources: Sources
  readonly volumes: Map<string, Volume> | undefined
  /** No container is restarted. */
  readonly ended: boolean
  /** The state of a container has changed. */
  changed(): void
  recordEvent: RecordEvent
}

interface Killing {
  /** Of the event; default: it stops with its pod. */
  message?: string
  /** Resolves when the containers that end before it have ended. */
  turn?: Promise<unknown>
}

type Role = "init" | "main" | "ephemeral"

export class PodContainer {
  spec: Container
  current: SimulatedContainer | undefined
  /** The previous run, for `kubectl logs --previous`. */
  previous: SimulatedContainer | undefined
  restarts: number
  /** The reason why it does not run: ContainerCreating, PodInitializing, CrashLoopBackOff, CreateContainerConfigError. */
  waiting: { reason: string; message?: string } | undefined
  /** Its postStart hook is running: it is not reported yet, and the containers after it are not started. */
  isStarting = false
  started = false
  ready = false
  readonly #role: Role
  readonly #owner: ContainerPod
  /** Not restarted before this time (ms since the epoch). */
  #retryAt = 0
  #probes: ProbeWorker | undefined
  /** Of the current run: ends its hooks. */
  #hooks = new AbortController()
  #isKilled = false

  constructor(owner: ContainerPod, spec: Container, role: Role) {
    this.spec = spec
    this.#owner = owner
    this.#role = role
    this.waiting = { reason: role === "init" ? "PodInitializing" : creating }
    this.restarts = restartsBefore(spec.name, owner.pod)
  }

  get isSidecar(): boolean {
    return this.spec.restartPolicy === "Always"
  }

  get isRunning(): boolean {
    return this.current !== undefined && this.current.exit === undefined
  }

  /** Of an init container: the next one may start. */
  get isInitialized(): boolean {
    return this.isSidecar ? this.started : this.current?.exit?.code === 0
  }

  /** It has ended, and is started again. */
  get isRestarted(): boolean {
    return this.current?.exit !== undefined && this.#restarts(this.current.exit.code)
  }

  /** Starts it if it is due. Returns the milliseconds until it is; undefined: only a change makes it so. */
  async advance(): Promise<number | undefined> {
    const { current } = this
    if (current !== undefined && (current.exit === undefined || !this.#restarts(current.exit.code))) return undefined
    const now = this.#owner.sources.now()
    return this.#retryAt > now ? this.#retryAt - now : this.#start()
  }

  /** An update has changed the image: the container is recreated. */
  replace(spec: Container): void {
    this.spec = spec
    void this.kill(this.#graceSeconds, { message: `Container ${spec.name} definition changed, will be restarted` })
    this.#retryAt = 0
  }

  /**
   * Runs the preStop hook and waits for its turn, both for at most the grace period, then stops the container; resolves when it has
   * ended. Called again, a shorter period counts. Source: k8s.io/kubernetes/pkg/kubelet/kuberuntime (killContainer).
   */
  async kill(graceSeconds: number, { message, turn }: Killing = {}): Promise<void> {
    const { current, spec } = this
    if (current === undefined || current.exit !== undefined) return
    const hooks = this.#hooks
    const stop = (): void => {
      hooks.abort()
      void current.stop()
    }
    const isFirst = !this.#isKilled
    this.#isKilled = true
    if (isFirst) this.#owner.recordEvent("Normal", "Killing", message ?? `Stopping container ${spec.name}`)
    if (graceSeconds <= 0) stop()
    else {
      if (isFirst) void this.#prepareToStop(current, turn).then(stop)
      if (!(await endsWithin(systemClock, graceSeconds * 1000, current.ended))) stop()
    }
    await current.ended
  }

  /** Without hook or event, as if the node had lost its power. */
  async destroy(): Promise<void> {
    this.#hooks.abort()
    await this.current?.stop()
  }

  async #prepareToStop(current: SimulatedContainer, turn: Promise<unknown> | undefined): Promise<void> {
    const hook = this.spec.lifecycle?.preStop
    if (hook !== undefined) await this.#runHook(hook, current, "PreStop")
    await turn
  }

  /** It has ended and is not retried. */
  end(): void {
    this.#probes?.stop()
    if (this.current !== undefined) this.waiting = undefined
  }

  get #graceSeconds(): number {
    return graceSecondsOf(this.#owner.pod)
  }

  #restarts(code: number): boolean {
    if (this.#role === "ephemeral") return false
    if (this.#role === "init" && !this.isSidecar && code === 0) return false
    // A rule that restarts all containers restarts only this one.
    return mayRestart(this.spec, this.#owner.pod.spec ?? {}, code)
  }

  async #start(): Promise<number | undefined> {
    const { recordEvent, sources } = this.#owner
    let container: SimulatedContainer
    try {
      container = await this.#create()
    } catch (error) {
      if (!(error instanceof MissingSource)) throw error
      this.waiting = { reason: "CreateContainerConfigError", message: error.message }
      recordEvent("Warning", "Failed", `Error: ${error.message}`)
      this.#retryAt = sources.now() + 1000
      return 1000
    }
    if (this.current !== undefined) {
      this.previous = this.current
      this.restarts++
    }
    this.current = container
    this.#hooks = new AbortController()
    this.#isKilled = false
    recordEvent("Normal", "Started", `Container started`)
    void container.ended.then((code) => this.#onExit(container, code))
    const hook = this.spec.lifecycle?.postStart
    if (hook === undefined) this.#onStarted(container)
    else void this.#postStart(hook, container)
    return undefined
  }

  async #create(): Promise<SimulatedContainer> {
    const { spec } = this
    const { pod, podIP, recordEvent, sources, volumes } = this.#owner
    const environment = await environmentOf(sources, pod, spec, podIP)
    const command = [...(spec.command ?? []), ...(spec.args ?? [])].map((word) => substitute(word, environment))
    const hostname = hostnameOf(pod)
    if (this.current === undefined)
      recordEvent("Normal", "Pulled", `Container image "${spec.image ?? ""}" already present on machine`)
    recordEvent("Normal", "Created", `Container created`)
    return new SimulatedContainer(`containerd://${randomBytes(32).toString("hex")}`, {
      name: spec.name,
      image: spec.image ?? "",
      command,
      environment,
      files: new FileSystem(new Volume(ownFiles(pod, hostname, podIP)), mountsOf(spec, volumes ?? new Map())),
      hostname,
      workingDir: spec.workingDir === undefined || spec.workingDir === "" ? "/" : spec.workingDir,
      ports: (spec.ports ?? []).filter(({ protocol }) => protocol !== "UDP").map(({ containerPort }) => containerPort),
      stdin: spec.stdin === true,
      stdinOnce: spec.stdinOnce === true,
      tty: spec.tty === true,
      ends: this.#role === "init" && !this.isSidecar,
    })
  }

  /** Until the hook has ended, the container is not reported as running. A failed hook ends it. */
  async #postStart(hook: Hook, container: SimulatedContainer): Promise<void> {
    this.isStarting = true
    this.waiting ??= { reason: creating }
    this.started = this.ready = false
    const fault = await this.#runHook(hook, container, "PostStart")
    if (this.current !== container) return
    this.isStarting = false
    if (container.exit === undefined && !this.#isKilled) {
      if (fault === undefined) this.#onStarted(container)
      else {
        this.waiting = { reason: "PostStartHookError", message: fault }
        await this.kill(this.#graceSeconds, { message: "FailedPostStartHook" })
      }
    }
    this.#owner.changed()
  }

  /** Returns the message about a failed hook, which events do not contain, because it may quote secrets. */
  async #runHook(
    hook: Hook,
    container: SimulatedContainer,
    kind: "PostStart" | "PreStop",
  ): Promise<string | undefined> {
    const fault = await runHandler(hook, this.spec, container, this.#hooks.signal)
    if (fault === undefined) return undefined
    this.#owner.recordEvent("Warning", `Failed${kind}Hook`, `${kind}Hook failed`)
    const { name, namespace, uid } = this.#owner.pod.metadata
    const where = `Container ${JSON.stringify(this.spec.name)} in Pod "${name}_${namespace}(${uid})"`
    return `${printHook(hook)} for ${where} failed - error: ${fault}`
  }

  #onStarted(container: SimulatedContainer): void {
    const { spec } = this
    const { readinessProbe, livenessProbe, startupProbe } = spec
    this.waiting = undefined
    this.#probes?.stop()
    this.started = !startupProbe
    this.ready = !startupProbe && !readinessProbe
    if (!readinessProbe && !livenessProbe && !startupProbe) return
    this.#probes = new ProbeWorker(spec, container, {
      started: () => {
        this.started = true
        if (!readinessProbe) this.ready = true
        this.#owner.changed()
      },
      ready: (ready) => {
        this.ready = ready
        this.#owner.changed()
      },
      unhealthy: (kind, message, isFailed) => {
        this.#owner.recordEvent("Warning", "Unhealthy", `${kind} probe failed: ${message}`)
        const probe = kind === "Startup" ? startupProbe : livenessProbe
        const grace = probe?.terminationGracePeriodSeconds ?? this.#graceSeconds
        if (isFailed)
          void this.kill(grace, {
            message: `Container ${spec.name} failed ${kind.toLowerCase()} probe, will be restarted`,
          })
      },
    })
  }

  #onExit(container: SimulatedContainer, code: number): void {
    if (this.current !== container) return
    this.#probes?.stop()
    this.#hooks.abort()
    this.ready = this.started = false
    if (!this.#owner.ended && this.#restarts(code)) this.#delayRestart(container)
    else this.waiting = undefined
    this.#owner.changed()
  }

  #delayRestart({ startedAt }: SimulatedContainer): void {
    const { pod, recordEvent, sources } = this.#owner
    const now = sources.now()
    const delay = restartDelayMs(this.restarts, now - startedAt)
    this.#retryAt = now + delay
    if (delay === 0) return
    const { name = "", namespace = "", uid = "" } = pod.metadata
    const which = `restarting failed container=${this.spec.name} pod=${name}_${namespace}(${uid})`
    this.waiting = { reason: "CrashLoopBackOff", message: `back-off ${delay / 1000}s ${which}` }
    const message = `Back-off restarting failed container ${this.spec.name} in pod ${name}_${namespace}(${uid})`
    recordEvent("Warning", "BackOff", message)
  }
}

/** Of a pod that is stopped without being deleted. */
export const graceSecondsOf = ({ spec }: Pod): number => spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds
