// The resources scenarios speak of.

import * as resources from "../../../client/resources.ts"
import type { Resource } from "../../../client/rest.ts"
import { apiServices } from "../../../client/api-services.ts"
import { clusterThings, things } from "./custom-kinds.ts"

export const kinds: readonly Resource[] = [
  resources.pods,
  resources.replicaSets,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
  resources.controllerRevisions,
  resources.jobs,
  resources.cronJobs,
  resources.replicationControllers,
  resources.services,
  resources.endpoints,
  resources.endpointSlices,
  resources.persistentVolumeClaims,
  resources.resourceQuotas,
  resources.podDisruptionBudgets,
  resources.horizontalPodAutoscalers,
  resources.configMaps,
  resources.secrets,
  resources.serviceAccounts,
  resources.resourceClaims,
  resources.resourceClaimTemplates,
  resources.leases,
  things,
]

/** Of the whole cluster: a scenario has those whose names begin with its namespace's. */
export const clusterKinds: readonly Resource[] = [
  resources.namespaces,
  resources.nodes,
  resources.persistentVolumes,
  resources.storageClasses,
  resources.volumeAttributesClasses,
  resources.serviceCIDRs,
  resources.clusterRoles,
  resources.validatingAdmissionPolicies,
  resources.resourceSlices,
  resources.certificateSigningRequests,
  clusterThings,
  apiServices,
]

export function kindOf(resource: string): Resource {
  const found = [...kinds, ...clusterKinds].find((kind) => kind.resource === resource)
  if (found === undefined) throw new Error(`scenarios know no ${resource}`)
  return found
}
