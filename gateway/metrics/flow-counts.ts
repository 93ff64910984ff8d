// Counts the requests of one control plane by flow schema and priority level. Concurrency and fairness are per tenant, not per
// level (filters/max-in-flight.ts, fair-turns.ts): a request takes one seat, and the limit of each level is that of its control
// plane, which all levels share. Source: k8s.io/apiserver/pkg/util/flowcontrol/metrics.

import {
  clear,
  family,
  histogram,
  histogramSamples,
  observe,
  printLabels,
  sample,
} from "../../client/metrics/exposition.ts"

const secondsBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30] as const
/** Number of flows per control plane; requests of further ones are not counted by flow. */
const maxFlows = 500

type Rejection = "queue-full" | "time-out" | "cancelled"

/** A request that is queued or executing. */
export interface Passing {
  flow: FlowSeries | undefined
  /** performance.now() when it was queued. */
  queuedAt: number | undefined
  isDispatched: boolean
  /** Ordinary requests execute until they end; a watch counts only until it is dispatched. */
  readonly isLongRunning: boolean
}

/** The counts of one flow schema and its level. */
class FlowSeries {
  readonly labels: string
  dispatched = 0
  waiting = 0
  executing = 0
  readonly rejected = new Map<Rejection, number>()
  readonly waited = histogram(secondsBounds)
  /** Waiting times of requests that ended without being dispatched. */
  readonly rejectedWaits = histogram(secondsBounds)

  constructor(schema: string, level: string) {
    this.labels = printLabels({ flow_schema: schema, priority_level: level })
  }

  reject(reason: Rejection): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
  }
}
export type { FlowSeries }

/** The request is queued; being queued again for another reason continues the same wait. */
export function queue(request: Passing): void {
  if (request.flow === undefined || request.queuedAt !== undefined) return
  request.queuedAt = performance.now()
  request.flow.waiting++
}

/** The request starts executing. Returns its waiting time in milliseconds. */
export function dispatch(request: Passing): number {
  const { flow, queuedAt } = request
  if (flow === undefined) return 0
  const waitedMs = queuedAt === undefined ? 0 : performance.now() - queuedAt
  if (queuedAt !== undefined) flow.waiting--
  request.isDispatched = true
  flow.dispatched++
  observe(flow.waited, waitedMs / 1000)
  if (!request.isLongRunning) flow.executing++
  return waitedMs
}

/** The request has ended, whether or not it was dispatched. */
export function leave(request: Passing, isLate: boolean): void {
  const { flow, queuedAt } = request
  if (flow === undefined) return
  if (request.isDispatched) {
    if (!request.isLongRunning) flow.executing--
  } else if (queuedAt !== undefined) {
    flow.waiting--
    flow.reject(isLate ? "time-out" : "cancelled")
    observe(flow.rejectedWaits, (performance.now() - queuedAt) / 1000)
  }
}

export class FlowCounts {
  readonly #flows = new Map<string, FlowSeries>()

  of(schema: string, level: string): FlowSeries {
    const key = `${schema} ${level}`
    let flow = this.#flows.get(key)
    if (flow !== undefined) return flow
    if (this.#flows.size >= maxFlows && schema !== "") return this.of("", "")
    this.#flows.set(key, (flow = new FlowSeries(schema, level)))
    return flow
  }

  /** In place: pending requests keep references to their counters and remain counted as pending. */
  reset(): void {
    for (const flow of this.#flows.values()) {
      flow.dispatched = 0
      flow.rejected.clear()
      clear(flow.waited)
      clear(flow.rejectedWaits)
    }
  }

  /** `levels`: names of all priority levels. `places`: maximum number of concurrent requests. */
  print(levels: readonly string[], places: number): string {
    const all = [...this.#flows.values()]
    const prefix = "apiserver_flowcontrol_"
    const numbers = (key: string, type: "counter" | "gauge", help: string, of: (flow: FlowSeries) => number): string =>
      family(
        prefix + key,
        type,
        help,
        all.map((flow) => sample(prefix + key, flow.labels, of(flow))),
      )
    const wait = `${prefix}request_wait_duration_seconds`
    const rejected = `${prefix}rejected_requests_total`
    const limit = `${prefix}nominal_limit_seats`
    return [
      numbers("dispatched_requests_total", "counter", "Requests that were worked on", ({ dispatched }) => dispatched),
      numbers("current_inqueue_requests", "gauge", "Requests that wait", ({ waiting }) => waiting),
      numbers("current_executing_requests", "gauge", "Requests being worked on", ({ executing }) => executing),
      numbers("current_executing_seats", "gauge", "Places of requests being worked on", ({ executing }) => executing),
      family(
        limit,
        "gauge",
        "Places that requests of a level may have, of all levels together",
        levels.map((level) => sample(limit, printLabels({ priority_level: level }), places)),
      ),
      family(
        rejected,
        "counter",
        "Requests that were not worked on",
        all.flatMap((flow) =>
          [...flow.rejected].map(([reason, count]) =>
            sample(rejected, `${flow.labels},${printLabels({ reason })}`, count),
          ),
        ),
      ),
      family(
        wait,
        "histogram",
        "Time until a request was worked on",
        all.flatMap(({ labels, waited, rejectedWaits }) => [
          ...histogramSamples(wait, `execute="false",${labels}`, rejectedWaits),
          ...histogramSamples(wait, `execute="true",${labels}`, waited),
        ]),
      ),
    ].join("")
  }
}
