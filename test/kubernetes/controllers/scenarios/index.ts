// All scenarios, a file or a few for each kind of object.

import { fixedScenarios } from "../random/index.ts"
import type { Scenario } from "../scenario.ts"
import { accessScenarios } from "./access.ts"
import { budgetOfOwnersScenarios } from "./budgets-of-owners.ts"
import { claimScenarios } from "./claims-and-ranges.ts"
import { podClaimScenarios } from "./claims-of-pods.ts"
import { cronJobScenarios } from "./cron-jobs.ts"
import { daemonSetHistoryScenarios } from "./daemon-set-history.ts"
import { daemonSetUpdateScenarios } from "./daemon-set-updates.ts"
import { daemonSetScenarios } from "./daemon-sets.ts"
import { deletedVolumeScenarios } from "./deleted-volumes.ts"
import { deletionScenarios } from "./deletion.ts"
import { deploymentAnnotationScenarios } from "./deployment-annotations.ts"
import { deploymentHistoryScenarios } from "./deployment-history.ts"
import { deploymentScenarios } from "./deployments.ts"
import { deviceTaintScenarios } from "./device-taints.ts"
import { disruptionScenarios } from "./disruption-and-scaling.ts"
import { failingJobScenarios } from "./failing-jobs.ts"
import { indexedJobScenarios } from "./indexed-jobs.ts"
import { oddJobScenarios } from "./job-odds.ts"
import { interruptedRolloutScenarios } from "./interrupted-rollouts.ts"
import { jobPolicyScenarios } from "./job-policies.ts"
import { jobScenarios } from "./jobs.ts"
import { lostClaimScenarios } from "./lost-claims.ts"
import { meddledStatusScenarios } from "./meddled-status.ts"
import { mirroringScenarios } from "./mirrored-endpoints.ts"
import { missingTimeScenarios } from "./missing-times.ts"
import { namespaceScenarios } from "./namespaces.ts"
import { nodeScenarios } from "./nodes.ts"
import { ownerScenarios } from "./owners.ts"
import { podGarbageScenarios } from "./pod-garbage.ts"
import { policyScenarios } from "./policies.ts"
import { provisioningScenarios } from "./provisioning.ts"
import { quotaScenarios } from "./quotas.ts"
import { recyclingScenarios } from "./recycling.ts"
import { refusedWriteScenarios } from "./refused-writes.ts"
import { replicaSetPodScenarios } from "./replica-set-pods.ts"
import { replicaSetScenarios } from "./replica-sets.ts"
import { serviceScenarios } from "./services.ts"
import { silentNodeScenarios } from "./silent-nodes.ts"
import { statefulSetClaimScenarios } from "./stateful-set-claims.ts"
import { oddStatefulSetScenarios } from "./stateful-set-odds.ts"
import { statefulSetUpdateScenarios } from "./stateful-set-updates.ts"
import { statefulSetScenarios } from "./stateful-sets.ts"
import { topologyHintScenarios } from "./topology-hints.ts"
import { touchedSliceScenarios } from "./touched-slices.ts"
import { volumeScenarios } from "./volumes.ts"

export const scenarios: readonly Scenario[] = [
  // First, as they wait longest.
  ...podGarbageScenarios,
  ...silentNodeScenarios,
  ...recyclingScenarios,
  ...deploymentScenarios,
  ...deploymentHistoryScenarios,
  ...deploymentAnnotationScenarios,
  ...interruptedRolloutScenarios,
  ...replicaSetScenarios,
  ...replicaSetPodScenarios,
  ...statefulSetScenarios,
  ...statefulSetUpdateScenarios,
  ...statefulSetClaimScenarios,
  ...oddStatefulSetScenarios,
  ...daemonSetScenarios,
  ...daemonSetUpdateScenarios,
  ...daemonSetHistoryScenarios,
  ...jobScenarios,
  ...indexedJobScenarios,
  ...failingJobScenarios,
  ...oddJobScenarios,
  ...jobPolicyScenarios,
  ...meddledStatusScenarios,
  ...missingTimeScenarios,
  ...refusedWriteScenarios,
  ...cronJobScenarios,
  ...serviceScenarios,
  ...topologyHintScenarios,
  ...touchedSliceScenarios,
  ...mirroringScenarios,
  ...disruptionScenarios,
  ...budgetOfOwnersScenarios,
  ...deletionScenarios,
  ...ownerScenarios,
  ...namespaceScenarios,
  ...quotaScenarios,
  ...volumeScenarios,
  ...deletedVolumeScenarios,
  ...lostClaimScenarios,
  ...provisioningScenarios,
  ...podClaimScenarios,
  ...claimScenarios,
  ...nodeScenarios,
  ...deviceTaintScenarios,
  ...accessScenarios,
  ...policyScenarios,
  ...fixedScenarios,
]
