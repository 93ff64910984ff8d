import { expect, test } from "vitest"
import { PatrolMetrics } from "./patrol-metrics.ts"

test("differences of all patrols are summed by resource", () => {
  const metrics = new PatrolMetrics()
  metrics.patrolled({ compared: 9, enqueued: new Map([["pods", 2]]), removedNamespaces: 0 }, 0.5)
  const second = { compared: 9, enqueued: new Map(Object.entries({ pods: 1, services: 1 })), removedNamespaces: 3 }
  metrics.patrolled(second, 1.5)
  const samples = metrics.print().split("\n")
  expect(samples.filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket"))).toEqual([
    "polyplane_syncer_patrol_duration_seconds_sum 2",
    "polyplane_syncer_patrol_duration_seconds_count 2",
    'polyplane_syncer_patrol_differences_total{resource="pods"} 3',
    'polyplane_syncer_patrol_differences_total{resource="services"} 1',
    "polyplane_syncer_removed_namespaces_total 3",
  ])
})
