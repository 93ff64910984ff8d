// All scenarios, in the order of the report.

import { fieldScenarios, statusScenarios } from "./generate/field-scenarios.ts"
import { lifeScenarios } from "./generate/life-scenarios.ts"
import { metadataScenarios } from "./generate/metadata-scenarios.ts"
import { kinds } from "./generate/objects.ts"
import type { Scenario } from "./scenario.ts"

export interface ScenarioGroup {
  name: string
  scenarios: readonly Scenario[]
}

export function scenarioGroups(): ScenarioGroup[] {
  return kinds().map((kind) => ({
    name: kind.title,
    scenarios: [...lifeScenarios(kind), ...metadataScenarios(kind), ...fieldScenarios(kind), ...statusScenarios(kind)],
  }))
}
