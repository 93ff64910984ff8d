// The resources that Polyplane itself reads and writes.

import type { Resource } from "./rest.ts"

const namespaced = (group: string, version: string, resource: string): Resource => ({
  group,
  version,
  resource,
  namespaced: true,
})
const cluster = (group: string, version: string, resource: string): Resource => ({
  group,
  version,
  resource,
  namespaced: false,
})

export const namespaces = cluster("", "v1", "namespaces")
export const nodes = cluster("", "v1", "nodes")
export const persistentVolumes = cluster("", "v1", "persistentvolumes")
export const pods = namespaced("", "v1", "pods")
export const services = namespaced("", "v1", "services")
export const endpoints = namespaced("", "v1", "endpoints")
export const configMaps = namespaced("", "v1", "configmaps")
export const secrets = namespaced("", "v1", "secrets")
export const serviceAccounts = namespaced("", "v1", "serviceaccounts")
export const persistentVolumeClaims = namespaced("", "v1", "persistentvolumeclaims")
export const events = namespaced("", "v1", "events")
export const limitRanges = namespaced("", "v1", "limitranges")
export const resourceQuotas = namespaced("", "v1", "resourcequotas")
export const replicationControllers = namespaced("", "v1", "replicationcontrollers")
export const deployments = namespaced("apps", "v1", "deployments")
export const replicaSets = namespaced("apps", "v1", "replicasets")
export const statefulSets = namespaced("apps", "v1", "statefulsets")
export const daemonSets = namespaced("apps", "v1", "daemonsets")
export const controllerRevisions = namespaced("apps", "v1", "controllerrevisions")
export const jobs = namespaced("batch", "v1", "jobs")
export const cronJobs = namespaced("batch", "v1", "cronjobs")
export const endpointSlices = namespaced("discovery.k8s.io", "v1", "endpointslices")
export const networkPolicies = namespaced("networking.k8s.io", "v1", "networkpolicies")
export const leases = namespaced("coordination.k8s.io", "v1", "leases")
export const podDisruptionBudgets = namespaced("policy", "v1", "poddisruptionbudgets")
export const horizontalPodAutoscalers = namespaced("autoscaling", "v2", "horizontalpodautoscalers")
export const storageClasses = cluster("storage.k8s.io", "v1", "storageclasses")
export const volumeAttributesClasses = cluster("storage.k8s.io", "v1", "volumeattributesclasses")
export const resourceClaims = namespaced("resource.k8s.io", "v1", "resourceclaims")
export const deviceClasses = cluster("resource.k8s.io", "v1", "deviceclasses")
export const resourceClaimTemplates = namespaced("resource.k8s.io", "v1", "resourceclaimtemplates")
export const resourceSlices = cluster("resource.k8s.io", "v1", "resourceslices")
export const volumeAttachments = cluster("storage.k8s.io", "v1", "volumeattachments")
export const serviceCIDRs = cluster("networking.k8s.io", "v1", "servicecidrs")
export const ingressClasses = cluster("networking.k8s.io", "v1", "ingressclasses")
export const ipAddresses = cluster("networking.k8s.io", "v1", "ipaddresses")
export const runtimeClasses = cluster("node.k8s.io", "v1", "runtimeclasses")
export const priorityClasses = cluster("scheduling.k8s.io", "v1", "priorityclasses")
export const clusterRoles = cluster("rbac.authorization.k8s.io", "v1", "clusterroles")
export const clusterRoleBindings = cluster("rbac.authorization.k8s.io", "v1", "clusterrolebindings")
export const certificateSigningRequests = cluster("certificates.k8s.io", "v1", "certificatesigningrequests")
export const subjectAccessReviews = cluster("authorization.k8s.io", "v1", "subjectaccessreviews")
export const validatingAdmissionPolicies = cluster("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
export const validatingWebhookConfigurations = cluster(
  "admissionregistration.k8s.io",
  "v1",
  "validatingwebhookconfigurations",
)
/** Of objects that may refuse writes of others. */
export const admissionResources: readonly Resource[] = [
  validatingAdmissionPolicies,
  validatingWebhookConfigurations,
  ...[
    "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
  ].map((resource) => cluster("admissionregistration.k8s.io", "v1", resource)),
]
export const customResourceDefinitions = cluster("apiextensions.k8s.io", "v1", "customresourcedefinitions")
export const virtualClusters = namespaced("tenancy.x-k8s.io", "v1alpha1", "virtualclusters")
export const clusterVersions = cluster("tenancy.x-k8s.io", "v1alpha1", "clusterversions")
