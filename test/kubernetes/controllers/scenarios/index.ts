// All scenarios, a file or a few for each kind of object.

import type { Scenario } from "../scenario.ts"
import { accessScenarios } from "./access.ts"
import { claimScenarios } from "./claims-and-ranges.ts"
import { podClaimScenarios } from "./claims-of-pods.ts"
import { cronJobScenarios } from "./cron-jobs.ts"
import { daemonSetUpdateScenarios } from "./daemon-set-updates.ts"
import { daemonSetScenarios } from "./daemon-sets.ts"
import { deletionScenarios } from "./deletion.ts"
import { deploymentHistoryScenarios } from "./deployment-history.ts"
import { deploymentScenarios } from "./deployments.ts"
import { disruptionScenarios } from "./disruption-and-scaling.ts"
import { failingJobScenarios } from "./failing-jobs.ts"
import { indexedJobScenarios } from "./indexed-jobs.ts"
import { jobScenarios } from "./jobs.ts"
import { mirroringScenarios } from "./mirrored-endpoints.ts"
import { namespaceScenarios } from "./namespaces.ts"
import { nodeScenarios } from "./nodes.ts"
import { policyScenarios } from "./policies.ts"
import { provisioningScenarios } from "./provisioning.ts"
import { quotaScenarios } from "./quotas.ts"
import { replicaSetScenarios } from "./replica-sets.ts"
import { serviceScenarios } from "./services.ts"
import { statefulSetClaimScenarios } from "./stateful-set-claims.ts"
import { statefulSetUpdateScenarios } from "./stateful-set-updates.ts"
import { statefulSetScenarios } from "./stateful-sets.ts"
import { volumeScenarios } from "./volumes.ts"

export const scenarios: readonly Scenario[] = [
  ...deploymentScenarios,
  ...deploymentHistoryScenarios,
  ...replicaSetScenarios,
  ...statefulSetScenarios,
  ...statefulSetUpdateScenarios,
  ...statefulSetClaimScenarios,
  ...daemonSetScenarios,
  ...daemonSetUpdateScenarios,
  ...jobScenarios,
  ...indexedJobScenarios,
  ...failingJobScenarios,
  ...cronJobScenarios,
  ...serviceScenarios,
  ...mirroringScenarios,
  ...disruptionScenarios,
  ...deletionScenarios,
  ...namespaceScenarios,
  ...quotaScenarios,
  ...volumeScenarios,
  ...provisioningScenarios,
  ...podClaimScenarios,
  ...claimScenarios,
  ...nodeScenarios,
  ...accessScenarios,
  ...policyScenarios,
]
