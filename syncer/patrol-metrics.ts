// Metrics of what patrols find. In an idle cluster they find nothing: objects that differ again and again are written by another
// client, or refused by one of the two sides.

import {
  exponentialBounds,
  family,
  histogram,
  histogramSamples,
  observe,
  printLabels,
  sample,
} from "../client/metrics/exposition.ts"
import type { PatrolReport } from "./patrol.ts"

const secondsBounds = exponentialBounds(0.001, 4, 9)

export class PatrolMetrics {
  readonly #seconds = histogram(secondsBounds)
  readonly #differing = new Map<string, number>()
  #removedNamespaces = 0

  patrolled({ enqueued, removedNamespaces }: PatrolReport, seconds: number): void {
    observe(this.#seconds, seconds)
    for (const [resource, count] of enqueued)
      this.#differing.set(resource, (this.#differing.get(resource) ?? 0) + count)
    this.#removedNamespaces += removedNamespaces
  }

  print(): string {
    const seconds = "polyplane_syncer_patrol_duration_seconds"
    const differing = "polyplane_syncer_patrol_differences_total"
    const removed = "polyplane_syncer_removed_namespaces_total"
    const counts = [...this.#differing].map(([resource, count]) => sample(differing, printLabels({ resource }), count))
    return [
      family(
        seconds,
        "histogram",
        "Time of a patrol: both sides of all tenants compared",
        histogramSamples(seconds, "", this.#seconds),
      ),
      family(differing, "counter", "Objects that a patrol found to differ, by resource", counts),
      family(removed, "counter", "Namespaces of tenants that are gone, removed from the super cluster", [
        sample(removed, "", this.#removedNamespaces),
      ]),
    ].join("")
  }
}
