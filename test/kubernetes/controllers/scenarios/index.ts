// All scenarios, one file per kind of workload.

import type { Scenario } from "../scenario.ts"
import { claimScenarios } from "./claims-and-ranges.ts"
import { daemonSetScenarios } from "./daemon-sets.ts"
import { deletionScenarios } from "./deletion-and-quota.ts"
import { deploymentScenarios } from "./deployments.ts"
import { disruptionScenarios } from "./disruption-and-scaling.ts"
import { jobScenarios } from "./jobs.ts"
import { replicaSetScenarios } from "./replica-sets.ts"
import { serviceScenarios } from "./services.ts"
import { statefulSetScenarios } from "./stateful-sets.ts"
import { volumeScenarios } from "./volumes.ts"

export const scenarios: readonly Scenario[] = [
  ...deploymentScenarios,
  ...replicaSetScenarios,
  ...statefulSetScenarios,
  ...daemonSetScenarios,
  ...jobScenarios,
  ...serviceScenarios,
  ...disruptionScenarios,
  ...deletionScenarios,
  ...volumeScenarios,
  ...claimScenarios,
]
