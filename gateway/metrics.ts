// What the gateway counts. Requests are counted for all tenants together and for each by itself; in what is printed of all no
// label names a tenant: with thousands of them a scrape would be larger than what it tells.

import { monitorEventLoopDelay } from "node:perf_hooks"
import { Counter, Gauge, Registry } from "prom-client"
import type { ClientMetrics } from "../client/metrics/client-metrics.ts"
import { versionInfo } from "./endpoints/version.ts"
import { RequestCounts } from "./request-counts.ts"
import type { ControlPlane } from "./tenancy/control-plane.ts"

const nanosecondsPerSecond = 1e9
const microsecondsPerSecond = 1e6

/** How often the event loop's delay is measured. What is measured contains it. */
const delayResolutionMs = 10

const delaySeconds = (nanoseconds: number): number =>
  Math.max(0, nanoseconds / nanosecondsPerSecond - delayResolutionMs / 1000)

export class Metrics implements Disposable {
  readonly registry = new Registry()
  /** Of all control planes. */
  readonly requests = new RequestCounts()
  /** Of those that had any. They go with the control plane. */
  readonly #own = new WeakMap<ControlPlane, RequestCounts>()
  readonly tenants = new Gauge({
    name: "polyplane_tenants",
    help: "Tenant control planes",
    registers: [this.registry],
  })
  /** Asked at each scrape. Set by who knows. */
  awake: () => number = () => 0
  awakeBytes: () => number = () => 0
  readonly #delay = monitorEventLoopDelay({ resolution: delayResolutionMs })

  readonly #clients: ClientMetrics | undefined

  /** `clients`: of the process. */
  constructor(clients?: ClientMetrics) {
    this.#clients = clients
    this.#delay.enable()
    const { registry } = this
    const delay = this.#delay
    const awake = (): number => this.awake()
    const awakeBytes = (): number => this.awakeBytes()
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
    registry.registerMetric(
      new Gauge({
        name: "process_resident_memory_bytes",
        help: "Memory of the process",
        registers: [],
        collect() {
          this.set(process.memoryUsage.rss())
        },
      }),
    )
    registry.registerMetric(
      new Counter({
        name: "process_cpu_seconds_total",
        help: "Processor time of the process",
        registers: [],
        collect() {
          const { user, system } = process.cpuUsage()
          this.reset()
          this.inc((user + system) / microsecondsPerSecond)
        },
      }),
    )
  }

  requestsOf(controlPlane: ControlPlane): RequestCounts {
    let own = this.#own.get(controlPlane)
    if (own === undefined) this.#own.set(controlPlane, (own = new RequestCounts()))
    return own
  }

  /** Of the process and all its tenants. */
  async print(): Promise<string> {
    return `${buildInfo}${this.requests.print()}${this.#clients?.print() ?? ""}${await this.registry.metrics()}`
  }

  /** What is one control plane's to see. */
  printOf(controlPlane: ControlPlane): string {
    return `${buildInfo}${this.requestsOf(controlPlane).print()}`
  }

  [Symbol.dispose](): void {
    this.#delay.disable()
    this.registry.clear()
  }
}

const { gitVersion, major, minor, platform } = versionInfo
const buildInfo = `# HELP kubernetes_build_info The Kubernetes whose API is served
# TYPE kubernetes_build_info gauge
kubernetes_build_info{git_version="${gitVersion}",major="${major}",minor="${minor}",platform="${platform}"} 1
`
