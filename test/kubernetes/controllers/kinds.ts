// The resources scenarios speak of.

import * as resources from "../../../client/resources.ts"
import { customResourceDefinitions } from "../../../client/resources.ts"
import type { Resource } from "../../../client/rest.ts"
import { apiServices } from "../../../client/api-services.ts"
import { fischers, flunders } from "../aggregated/wardle.ts"
import { clusterThings, scaledThings, things } from "./custom-kinds.ts"

export interface Kinds {
  namespaced: readonly Resource[]
  /** Of the whole cluster: a scenario has those whose names begin with its namespace's, and the addresses of its services. */
  cluster: readonly Resource[]
}

const namespaced: readonly Resource[] = [
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
  scaledThings,
]

const policyBindings: Resource = {
  ...resources.validatingAdmissionPolicies,
  resource: "validatingadmissionpolicybindings",
}

const cluster: readonly Resource[] = [
  resources.namespaces,
  resources.nodes,
  resources.persistentVolumes,
  resources.storageClasses,
  resources.volumeAttributesClasses,
  resources.serviceCIDRs,
  resources.ipAddresses,
  resources.clusterRoles,
  resources.validatingAdmissionPolicies,
  policyBindings,
  resources.resourceSlices,
  resources.certificateSigningRequests,
  clusterThings,
  apiServices,
]

export const kinds: Kinds = { namespaced, cluster }

/** Where there is an aggregated API. */
export const kindsWithAggregated: Kinds = { namespaced: [...namespaced, flunders], cluster: [...cluster, fischers] }

/** Of a definition that a scenario makes, whose group is named after its namespace. */
export const ownKind = (namespace: string): Resource => ({
  group: `${namespace}.example.com`,
  version: "v1",
  resource: "gadgets",
  namespaced: true,
})

export function kindOf(resource: string, namespace = ""): Resource {
  if (resource === customResourceDefinitions.resource) return customResourceDefinitions
  if (resource === ownKind(namespace).resource) return ownKind(namespace)
  const all = [...kindsWithAggregated.namespaced, ...kindsWithAggregated.cluster]
  const found = all.find((kind) => kind.resource === resource)
  if (found === undefined) throw new Error(`scenarios know no ${resource}`)
  return found
}
