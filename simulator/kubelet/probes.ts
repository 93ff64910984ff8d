// Startup, readiness and liveness probes of one running container.

import type { Container } from "../../apimachinery/object.ts"
import type { SimulatedContainer } from "../container/container.ts"
import { type Probe, runHandler } from "./handlers.ts"

interface ProbeListener {
  started(): void
  ready(ready: boolean): void
  /** `isFailed`: the failure threshold has been reached. */
  unhealthy(kind: "Startup" | "Readiness" | "Liveness", message: string, isFailed: boolean): void
}

export class ProbeWorker {
  readonly #container: SimulatedContainer
  readonly #spec: Container
  readonly #listener: ProbeListener
  readonly #stopped = new AbortController()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(spec: Container, container: SimulatedContainer, listener: ProbeListener) {
    this.#spec = spec
    this.#container = container
    this.#listener = listener
    if (spec.startupProbe) {
      this.#run("Startup", spec.startupProbe, () => {
        listener.started()
        this.#startOthers()
        return "done"
      })
    } else this.#startOthers()
  }

  stop(): void {
    this.#stopped.abort()
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #startOthers(): void {
    const { readinessProbe, livenessProbe } = this.#spec
    if (readinessProbe) this.#run("Readiness", readinessProbe, () => (this.#listener.ready(true), "again"))
    if (livenessProbe) this.#run("Liveness", livenessProbe, () => "again")
  }

  #run(kind: "Startup" | "Readiness" | "Liveness", probe: Probe, succeeded: () => "again" | "done"): void {
    let successes = 0
    let failures = 0
    const period = Math.max(1, probe.periodSeconds ?? 10) * 1000
    const later = (ms: number): void => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        void once()
      }, ms)
      timer.unref()
      this.#timers.add(timer)
    }
    const once = async (): Promise<void> => {
      const timeout = AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1000)
      const signal = AbortSignal.any([this.#stopped.signal, timeout])
      const fault = await runHandler(probe, this.#spec, this.#container, signal)
      if (this.#stopped.signal.aborted) return
      if (fault === undefined) {
        failures = 0
        if (++successes === (probe.successThreshold ?? 1) && succeeded() === "done") return
      } else {
        successes = 0
        const dead = ++failures >= (probe.failureThreshold ?? 3)
        if (dead && kind === "Readiness" && failures === (probe.failureThreshold ?? 3)) this.#listener.ready(false)
        this.#listener.unhealthy(kind, fault, dead && kind !== "Readiness")
        if (dead && kind !== "Readiness") return
      }
      later(period)
    }
    later((probe.initialDelaySeconds ?? 0) * 1000)
  }
}
