// Scenarios by chance: all families of them.

import { createRandom } from "../../../../apimachinery/testing/random.ts"
import type { Scenario } from "../scenario.ts"
import { serviceAccounts } from "./accounts.ts"
import { addressRanges } from "./address-ranges.ts"
import { autoscalers } from "./autoscalers.ts"
import { budgetsOfLoosePods } from "./budgets-of-loose-pods.ts"
import { certificateRequests } from "./certificate-requests.ts"
import { clusterRoles } from "./cluster-roles.ts"
import { cronJobs } from "./cron-jobs.ts"
import { customScales } from "./custom-scales.ts"
import { deviceTaints } from "./device-taints.ts"
import { disruptionBudgets } from "./disruption-budgets.ts"
import { falseOwners } from "./false-owners.ts"
import type { Family } from "./family.ts"
import { jobs } from "./jobs.ts"
import { leases, unusedTokens } from "./left-over.ts"
import { limitedWorkloads } from "./limited-workloads.ts"
import { meddledFamilies } from "./meddled-families.ts"
import { meddling } from "./meddling.ts"
import { mirroredEndpoints } from "./mirrored-endpoints.ts"
import { heldNamespaces, inhabited } from "./namespaces.ts"
import { nodes } from "./nodes.ts"
import { definitionsThatGo, ownersAcross } from "./owners-across.ts"
import { namespaces, owners } from "./owners.ts"
import { policies } from "./policies.ts"
import { quotasAtOnce } from "./quotas-at-once.ts"
import { quotas } from "./quotas.ts"
import { resourceClaims } from "./resource-claims.ts"
import { rollouts } from "./rollouts.ts"
import { services } from "./services.ts"
import { silentNodes } from "./silent-nodes.ts"
import { volumes } from "./volumes.ts"
import { workloads } from "./workloads.ts"

const families: Readonly<Record<string, Family>> = {
  Deployment: workloads("Deployment"),
  ReplicaSet: workloads("ReplicaSet"),
  ReplicationController: workloads("ReplicationController"),
  StatefulSet: workloads("StatefulSet"),
  DaemonSet: workloads("DaemonSet"),
  "rollout of a Deployment": rollouts("Deployment"),
  "rollout of a StatefulSet": rollouts("StatefulSet"),
  "rollout of a DaemonSet": rollouts("DaemonSet"),
  "limited Deployment": limitedWorkloads("Deployment"),
  "limited ReplicaSet": limitedWorkloads("ReplicaSet"),
  "meddled Deployment": meddling("Deployment"),
  "meddled ReplicaSet": meddling("ReplicaSet"),
  "meddled ReplicationController": meddling("ReplicationController"),
  "meddled StatefulSet": meddling("StatefulSet"),
  "meddled DaemonSet": meddling("DaemonSet"),
  "meddled Job": meddling("Job"),
  ...meddledFamilies,
  Job: jobs,
  CronJob: cronJobs,
  Service: services,
  "Endpoints by hand": mirroredEndpoints,
  ServiceCIDR: addressRanges,
  PodDisruptionBudget: disruptionBudgets,
  "budget of loose pods": budgetsOfLoosePods,
  HorizontalPodAutoscaler: autoscalers,
  "scale of a custom resource": customScales,
  ResourceQuota: quotas,
  "quota of what is done at once": quotasAtOnce,
  CertificateSigningRequest: certificateRequests,
  ServiceAccount: serviceAccounts,
  "ClusterRole that gathers": clusterRoles,
  ValidatingAdmissionPolicy: policies,
  ResourceClaim: resourceClaims,
  "device that is tainted": deviceTaints,
  owner: owners,
  "owner under a false name": falseOwners,
  "owner across scopes": ownersAcross,
  "definition that goes": definitionsThatGo,
  namespace: namespaces,
  "namespace of workloads": inhabited,
  "held namespace": heldNamespaces,
  volume: volumes,
  node: nodes,
  "silent node": silentNodes,
}

/** With steps before the controllers are restarted. */
const leftOverFamilies: Readonly<Record<string, Family>> = {
  "lease that is left over": leases,
  "token that is left over": unusedTokens,
}

export const familyNames: readonly string[] = Object.keys(families)
export const leftOverFamilyNames: readonly string[] = Object.keys(leftOverFamilies)

export function randomScenario(family: string, seed: number): Scenario {
  const make = families[family] ?? leftOverFamilies[family]
  if (make === undefined) throw new Error(`no family of scenarios is called ${family}`)
  return { name: `${family} of seed ${seed}`, ...make(createRandom(seed)) }
}

/** Played beside those written by hand. Jobs' depend on time, workloads have enough by hand; autoscalers' are in scenarios/measured.ts. */
export const fixedScenarios: readonly Scenario[] = [
  ...["Service", "PodDisruptionBudget", "ResourceQuota", "CronJob", "owner"].flatMap((family) =>
    [400, 401, 402].map((seed) => randomScenario(family, seed)),
  ),
  randomScenario("namespace", 401),
  ...[9005, 9011].map((seed) => randomScenario("owner across scopes", seed)),
  randomScenario("definition that goes", 9108),
]
