// The metrics of a workqueue, without labels for tenants. Source: k8s.io/client-go/util/workqueue/metrics.go.

import { exponentialBounds, family, histogram, histogramSamples, observe, printLabels, sample } from "./exposition.ts"

const secondsBounds = exponentialBounds(10e-9, 10, 10)
const secondsOf = (ms: number): number => Math.max(0, ms) / 1000

export class QueueMetrics {
  readonly name: string
  readonly #now: () => number
  #adds = 0
  #retries = 0
  readonly #waited = histogram(secondsBounds)
  readonly #worked = histogram(secondsBounds)
  /** Since when each key has been queued, and processed. */
  readonly #waiting = new Map<string, number>()
  readonly #working = new Map<string, number>()

  /** `now` returns milliseconds. */
  constructor(name: string, now: () => number = () => performance.now()) {
    this.name = name
    this.#now = now
  }

  /** Called when a key is queued that was not queued before. */
  added(id: string): void {
    this.#adds++
    this.#waiting.set(id, this.#now())
  }

  /** Called when the work on a key begins. */
  begun(id: string): void {
    const now = this.#now()
    observe(this.#waited, secondsOf(now - (this.#waiting.get(id) ?? now)))
    this.#waiting.delete(id)
    this.#working.set(id, now)
  }

  done(id: string): void {
    const began = this.#working.get(id)
    if (began === undefined) return
    this.#working.delete(id)
    observe(this.#worked, secondsOf(this.#now() - began))
  }

  /** Called when a key is added with a delay. */
  retried(): void {
    this.#retries++
  }

  /** Called when a queued key is removed without being processed. */
  dropped(id: string): void {
    this.#waiting.delete(id)
  }

  get adds(): number {
    return this.#adds
  }
  get retries(): number {
    return this.#retries
  }
  get depth(): number {
    return this.#waiting.size
  }
  get waited() {
    return this.#waited
  }
  get worked() {
    return this.#worked
  }

  /** For each key being processed, the time so far. */
  get unfinishedSeconds(): number[] {
    const now = this.#now()
    return [...this.#working.values()].map((began) => secondsOf(now - began))
  }
}

export function printQueues(queues: readonly QueueMetrics[]): string {
  const print = (key: string, type: "counter" | "gauge", help: string, of: (queue: QueueMetrics) => number): string => {
    const name = `workqueue_${key}`
    return family(
      name,
      type,
      help,
      queues.map((queue) => sample(name, printLabels({ name: queue.name }), of(queue))),
    )
  }
  const printSeconds = (key: string, help: string, of: (queue: QueueMetrics) => QueueMetrics["waited"]): string => {
    const name = `workqueue_${key}`
    return family(
      name,
      "histogram",
      help,
      queues.flatMap((queue) => histogramSamples(name, printLabels({ name: queue.name }), of(queue))),
    )
  }
  return [
    print("adds_total", "counter", "Keys that were added", ({ adds }) => adds),
    print("depth", "gauge", "Keys that wait", ({ depth }) => depth),
    print("retries_total", "counter", "Keys that were to come again later", ({ retries }) => retries),
    printSeconds("queue_duration_seconds", "How long a key waited before it was worked on", ({ waited }) => waited),
    printSeconds("work_duration_seconds", "How long a key was worked on", ({ worked }) => worked),
    print("unfinished_work_seconds", "gauge", "For how long what is under way has been worked on, together", (queue) =>
      queue.unfinishedSeconds.reduce((sum, seconds) => sum + seconds, 0),
    ),
    print("longest_running_processor_seconds", "gauge", "For how long the longest has been worked on", (queue) =>
      queue.unfinishedSeconds.reduce((longest, seconds) => Math.max(longest, seconds), 0),
    ),
  ].join("")
}
