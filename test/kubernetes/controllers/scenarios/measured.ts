// Scenarios that need metrics APIs: autoscalers by chance, of all kinds of metrics.

import { randomScenario } from "../random/index.ts"
import type { Scenario } from "../scenario.ts"

const seeds = [500, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008]

export const measuredScenarios: readonly Scenario[] = seeds.map((seed) =>
  randomScenario("HorizontalPodAutoscaler", seed),
)
