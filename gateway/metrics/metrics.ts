// What the gateway counts. Requests are counted for all tenants together and for each by itself; in what is printed of all no
// label names a tenant: with thousands of them a scrape would be larger than what it tells.

import { monitorEventLoopDelay } from "node:perf_hooks"
import { Gauge, Registry } from "prom-client"
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { family, printLabels, sample } from "../../client/metrics/exposition.ts"
import { versionInfo } from "../endpoints/version.ts"
import type { GatewayLimits } from "../options.ts"
import type { ControlPlane } from "../tenancy/control-plane.ts"
import { printAggregated } from "./aggregated.ts"
import { ControlPlaneCounts, Counts } from "./counts.ts"
import { printProcess, processStart } from "./process.ts"

const nanosecondsPerSecond = 1e9

/** How often the event loop's delay is measured. What is measured contains it. */
const delayResolutionMs = 10

const delaySeconds = (nanoseconds: number): number =>
  Math.max(0, nanoseconds / nanosecondsPerSecond - delayResolutionMs / 1000)

/** What tenants tell of those whose store is open. */
interface Awake {
  readonly awake: number
  readonly awakeBytes: number
}

export class Metrics implements Disposable {
  readonly registry = new Registry()
  /** Of all control planes. */
  readonly all = new Counts()
  /** Of those that had any requests. They go with the control plane. */
  readonly #own = new WeakMap<ControlPlane, ControlPlaneCounts>()
  readonly tenants = new Gauge({
    name: "polyplane_tenants",
    help: "Tenant control planes",
    registers: [this.registry],
  })
  /** Asked at each scrape. */
  #followed: Awake = { awake: 0, awakeBytes: 0 }
  readonly #delay = monitorEventLoopDelay({ resolution: delayResolutionMs })

  readonly #places: number
  readonly #clients: ClientMetrics | undefined

  /** `clients`: of the process. */
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

  /** Of the process and all its tenants. */
  async print(): Promise<string> {
    const others = [this.#clients?.print() ?? "", printProcess(), await this.registry.metrics()]
    return [buildInfo, this.all.print(), ...others].join("")
  }

  /** What is one control plane's to see. */
  async printOf(controlPlane: ControlPlane): Promise<string> {
    const { own, startedAt } = this.of(controlPlane)
    const name = "process_start_time_seconds"
    const started = family(name, "gauge", "Since when it has been counted, since the epoch", [
      sample(name, "", startedAt / 1000),
    ])
    return [buildInfo, own.print(), await this.#printNamed(controlPlane), started].join("")
  }

  /** From now on it is they that are counted. */
  follow(tenants: Awake): void {
    this.#followed = tenants
  }

  /** With what only the control plane at / has names for. */
  async printAll(controlPlane: ControlPlane): Promise<string> {
    return (await this.#printNamed(controlPlane)) + (await this.print())
  }

  async #printNamed(controlPlane: ControlPlane): Promise<string> {
    const { levels } = await controlPlane.flows.current()
    const flows = this.of(controlPlane).flows.print(levels, this.#places)
    return flows + (await printAggregated(controlPlane.aggregator))
  }

  /** Milliseconds since the epoch: when what is printed began. */
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
