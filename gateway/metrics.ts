// What the gateway counts, under upstream's names. No label names a tenant: with thousands of them a scrape would be
// larger than what it tells. Source of names: k8s.io/apiserver/pkg/endpoints/metrics.

import { monitorEventLoopDelay } from "node:perf_hooks"
import { Counter, Gauge, Histogram, Registry } from "prom-client"

const labels = ["verb", "group", "version", "resource", "subresource", "scope"] as const

const nanosecondsPerSecond = 1e9

export class Metrics implements Disposable {
  readonly registry = new Registry()
  readonly requests = new Counter({
    name: "apiserver_request_total",
    help: "Requests, by verb, resource and HTTP code",
    labelNames: [...labels, "code"],
    registers: [this.registry],
  })
  readonly durations = new Histogram({
    name: "apiserver_request_duration_seconds",
    help: "Time until a request that is not long-running was answered",
    labelNames: labels,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  })
  readonly inFlight = new Gauge({
    name: "apiserver_current_inflight_requests",
    help: "Requests being worked on, long-running ones apart",
    labelNames: ["request_kind"],
    registers: [this.registry],
  })
  readonly tenants = new Gauge({
    name: "polyplane_tenants",
    help: "Tenant control planes",
    registers: [this.registry],
  })
  readonly #delay = monitorEventLoopDelay({ resolution: 10 })

  constructor() {
    this.#delay.enable()
    const { registry } = this
    const delay = this.#delay
    registry.registerMetric(
      new Gauge({
        name: "polyplane_event_loop_delay_seconds",
        help: "How late the event loop runs its work, since the last scrape",
        labelNames: ["quantile"],
        registers: [],
        collect() {
          for (const quantile of [50, 99])
            this.set({ quantile: String(quantile / 100) }, delay.percentile(quantile) / nanosecondsPerSecond)
          this.set({ quantile: "1" }, delay.max / nanosecondsPerSecond)
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
  }

  [Symbol.dispose](): void {
    this.#delay.disable()
    this.registry.clear()
  }
}
