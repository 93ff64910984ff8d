// The gateway's metrics. Requests are counted for all tenants together and for each of them; in the metrics of the process no label
// names a tenant: with thousands of tenants, a scrape would be too large to be useful.

import { monitorEventLoopDelay } from "node:perf_hooks"
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

/** Numbers of tenants; awake are those whose store this process has open. */
interface CountedTenants {
  readonly size: number
  readonly awake?: number
  readonly awakeBytes?: number
}

export class Metrics implements Disposable {
  /** The counts of all control planes. */
  readonly all = new Counts()
  /** The counts of control planes that had requests. They live as long as the control plane. */
  readonly #own = new WeakMap<ControlPlane, ControlPlaneCounts>()
  /** Read at each scrape. */
  #tenants: CountedTenants = { size: 0 }
  readonly #delay = monitorEventLoopDelay({ resolution: delayResolutionMs })

  readonly #places: number
  readonly #clients: ClientMetrics | undefined

  /** `clients`: those of the process. */
  constructor({ maxInFlight }: Pick<GatewayLimits, "maxInFlight">, clients: ClientMetrics | undefined) {
    this.#places = maxInFlight
    this.#clients = clients
    this.#delay.enable()
  }

  of(controlPlane: ControlPlane): ControlPlaneCounts {
    let own = this.#own.get(controlPlane)
    if (own === undefined) this.#own.set(controlPlane, (own = new ControlPlaneCounts(this.all)))
    return own
  }

  /** The metrics of the process and all its tenants. */
  print(): Promise<string> {
    return Promise.resolve(this.printAlone())
  }

  protected printAlone(): string {
    return [buildInfo, this.all.print(), this.#clients?.print() ?? "", printProcess(), this.#printOwn()].join("")
  }

  #printOwn(): string {
    const { size, awake = 0, awakeBytes = 0 } = this.#tenants
    const gauge = (name: string, help: string, value: number) => family(name, "gauge", help, [sample(name, "", value)])
    return [
      gauge("polyplane_tenants", "Tenant control planes", size),
      gauge("polyplane_tenants_awake", "Tenants whose store is open", awake),
      gauge(
        "polyplane_tenants_awake_bytes",
        "Memory that is held for tenants whose store is open, estimated",
        awakeBytes,
      ),
      this.#printDelay(),
    ].join("")
  }

  #printDelay(): string {
    const name = "polyplane_event_loop_delay_seconds"
    const of = (quantile: number, value: number): string =>
      sample(name, printLabels({ quantile: String(quantile) }), delaySeconds(value))
    const delay = this.#delay
    const samples = [of(0.5, delay.percentile(50)), of(0.99, delay.percentile(99)), of(1, delay.max)]
    delay.reset()
    return family(name, "gauge", "How late the event loop runs its work, since the last scrape", samples)
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

  /** From now on these tenants are counted. */
  follow(tenants: CountedTenants): void {
    this.#tenants = tenants
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
