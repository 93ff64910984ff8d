// The gateway's metrics. Requests are counted for all tenants together and for each of them; in the metrics of the process no label
// names a tenant: with thousands of tenants, a scrape would be too large to be useful.

import { monitorEventLoopDelay } from "node:perf_hooks"
import { Gauge, Registry } from "prom-client"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { family, printLabels, sample } from "../../client/metrics/exposition.ts"
import { versionInfo } from "../endpoints/version.ts"
import type { GatewayLimits } from "../options.ts"
import type { ControlPlane } from "../control-plane/control-plane.ts"
import { printAggregated } from "./aggregated.ts"
import { ControlPlaneCounts, Counts } from "./counts.ts"
import { printProcess, processStart } from "./process.ts"

const nanosecondsPerSecond = 1e9

/** Interval at which the event loop's delay is measured. The measured values include it. */
const delayResolutionMs = 10

const delaySeconds = (nanoseconds: number): number =>
  Math.max(0, nanoseconds / nanosecondsPerSecond - delayResolutionMs / 1000)

/** Statistics about tenants with an open store. */
interface Awake {
  readonly awake: number
  readonly awakeBytes: number
}

export class Metrics implements Disposable {
  readonly registry = new Registry()
  /** The counts of all control planes. */
  readonly all = new Counts()
  /** The counts of control planes that had requests. They live as long as the control plane. */
  readonly #own = new WeakMap<ControlPlane, ControlPlaneCounts>()
  readonly tenants = new Gauge({
    name: "polyplane_tenants",
    help: "Tenant control planes",
    registers: [this.registry],
  })
  /** Read at each scrape. */
  #followed: Awake = { awake: 0, awakeBytes: 0 }
  readonly #delay = monitorEventLoopDelay({ resolution: delayResolutionMs })

  readonly #places: number
  readonly #clients: ClientMetrics | undefined

  /** `clients`: those of the process. */
  constructor({ maxInFlight }: Pick<GatewayLimits, "maxInFlight">, clients: ClientMetrics | undefined) {
    this.#places = maxInFlight
    this.#clients = clients
    this.#delay.enable()
    const { registry } = this
    const delay = this.#delay
    const awake = (): number => this.#followed.awake
    const awakeBytes = (): number => this.#followed.awakeBytes
    registry.registerMetric(
      new Gauge({
        name: "polyplane_tenants_awake",
        help: "Tenants whose store is open",
        registers: [],
        collect() {
          this.set(awake())
        },
      }),
    )
    registry.registerMetric(
      new Gauge({
        name: "polyplane_tenants_awake_bytes",
        help: "Memory that is held for tenants whose store is open, estimated",
        registers: [],
        collect() {
          this.set(awakeBytes())
        },
      }),
    )
    registry.registerMetric(
      new Gauge({
        name: "polyplane_event_loop_delay_seconds",
        help: "How late the event loop runs its work, since the last scrape",
        labelNames: ["quantile"],
        registers: [],
        collect() {
          for (const quantile of [50, 99])
            this.set({ quantile: String(quantile / 100) }, delaySeconds(delay.percentile(quantile)))
          this.set({ quantile: "1" }, delaySeconds(delay.max))
          delay.reset()
        },
      }),
    )
  }

  of(controlPlane: ControlPlane): ControlPlaneCounts {
    let own = this.#own.get(controlPlane)
    if (own === undefined) this.#own.set(controlPlane, (own = new ControlPlaneCounts(this.all)))
    return own
  }

  /** The metrics of the process and all its tenants. */
  async print(): Promise<string> {
    const others = [this.#clients?.print() ?? "", printProcess(), await this.registry.metrics()]
    return [buildInfo, this.all.print(), ...others].join("")
  }

  /** The metrics that a control plane may see. */
  async printOf(controlPlane: ControlPlane): Promise<string> {
    const { own, startedAt } = this.of(controlPlane)
    const name = "process_start_time_seconds"
    const started = family(name, "gauge", "Since when it has been counted, since the epoch", [
      sample(name, "", startedAt / 1000),
    ])
    return [buildInfo, own.print(), await this.#printNamed(controlPlane), started].join("")
  }

  /** From now on, the statistics of these tenants are reported. */
  follow(tenants: Awake): void {
    this.#followed = tenants
  }

  /** Includes labels with names from the control plane at /. */
  async printAll(controlPlane: ControlPlane): Promise<string> {
    return (await this.#printNamed(controlPlane)) + (await this.print())
  }

  async #printNamed(controlPlane: ControlPlane): Promise<string> {
    const { levels } = await controlPlane.flows.current()
    const flows = this.of(controlPlane).flows.print(levels, this.#places)
    return flows + (await printAggregated(controlPlane.aggregator))
  }

  /** Milliseconds since the epoch: when counting started. */
  startOf(controlPlane: ControlPlane): number {
    return controlPlane.tenant === undefined ? processStart : this.of(controlPlane).startedAt
  }

  [Symbol.dispose](): void {
    this.#delay.disable()
    this.registry.clear()
  }
}

const { buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform } = versionInfo
const buildLabels = printLabels({
  build_date: buildDate,
  compiler,
  git_commit: gitCommit,
  git_tree_state: gitTreeState,
  git_version: gitVersion,
  go_version: goVersion,
  major,
  minor,
  platform,
})
const buildName = "kubernetes_build_info"
const buildInfo = family(buildName, "gauge", "The Kubernetes whose API is served", [sample(buildName, buildLabels, 1)])
