// How many VirtualClusters are in which phase, read at each scrape: tenants that are not Running need somebody.

import { family, printLabels, sample } from "../client/metrics/exposition.ts"
import type { Phase, VirtualCluster } from "./types.ts"

const phases: readonly Phase[] = ["Error", "Pending", "Running"]

export class PhaseMetrics {
  #virtualClusters: () => readonly VirtualCluster[] = () => []

  /** From now on these are counted. */
  follow(virtualClusters: () => readonly VirtualCluster[]): void {
    this.#virtualClusters = virtualClusters
  }

  print(): string {
    const name = "polyplane_virtualclusters"
    const counts = new Map<Phase, number>(phases.map((phase) => [phase, 0]))
    for (const { status } of this.#virtualClusters()) {
      const phase = status?.phase ?? "Pending"
      counts.set(phase, (counts.get(phase) ?? 0) + 1)
    }
    const samples = phases.map((phase) => sample(name, printLabels({ phase }), counts.get(phase) ?? 0))
    return family(name, "gauge", "VirtualClusters by phase; all are 0 where the operator does not work", samples)
  }
}
