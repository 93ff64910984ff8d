// Metrics of the availability of a control plane's APIServices. Source: k8s.io/kube-aggregator/pkg/controllers/status/metrics.

import { family, printLabels, sample } from "../../client/metrics/exposition.ts"
import type { Aggregator } from "../aggregation/aggregator.ts"

export async function printAggregated(aggregator: Aggregator): Promise<string> {
  const gauge = "aggregator_unavailable_apiservice"
  const total = "aggregator_unavailable_apiservice_total"
  const availability = await aggregator.availability()
  return [
    family(
      gauge,
      "gauge",
      "Whether an API is unavailable",
      availability.map(({ name, isAvailable }) => sample(gauge, printLabels({ name }), isAvailable ? 0 : 1)),
    ),
    family(
      total,
      "counter",
      "How often an API became unavailable, by reason",
      aggregator.outages.map(({ name, reason, count }) => sample(total, printLabels({ name, reason }), count)),
    ),
  ].join("")
}
