// Counts the events sent to watches by resource. Source: k8s.io/apiserver/pkg/endpoints/metrics (WatchEvents).

import {
  clear,
  exponentialBounds,
  family,
  type Histogram,
  histogram,
  histogramSamples,
  observe,
  printLabels,
  sample,
} from "../../client/metrics/exposition.ts"
import type { GroupVersionResource } from "../../apimachinery/object.ts"

const bytesBounds = exponentialBounds(1024, 2, 8)
/** Number of resources per control plane; further ones are counted without a name. */
const maxResources = 2000

export class EventCounts {
  readonly #sizes = new Map<string, Histogram>()

  /** A watch keeps the function as long as it lasts. */
  of({ group, version, resource }: GroupVersionResource): (bytes: number) => void {
    const labels = printLabels({ group, resource, version })
    let sizes = this.#sizes.get(labels)
    if (sizes === undefined) {
      if (this.#sizes.size >= maxResources && resource !== "") return this.of({ group: "", version: "", resource: "" })
      this.#sizes.set(labels, (sizes = histogram(bytesBounds)))
    }
    const to = sizes
    return (bytes) => observe(to, bytes)
  }

  /** In place: watches keep references to their counters. */
  reset(): void {
    for (const sizes of this.#sizes.values()) clear(sizes)
  }

  print(): string {
    const all = [...this.#sizes].filter(([, { count }]) => count > 0)
    const total = "apiserver_watch_events_total"
    const sizes = "apiserver_watch_events_sizes"
    return [
      family(
        total,
        "counter",
        "Events that were sent to watches",
        all.map(([labels, { count }]) => sample(total, labels, count)),
      ),
      family(
        sizes,
        "histogram",
        "Bytes of events that were sent to watches",
        all.flatMap(([labels, each]) => histogramSamples(sizes, labels, each)),
      ),
    ].join("")
  }
}
