// The extensions of built-in kinds, by "group/resource" ("/pods", "apps/deployments"). Everything else comes from the schema facts;
// a kind that is not listed needs no extension.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { customResourceDefinitions } from "../custom-resources/definition/strategy.ts"
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "./admissionregistration/policies/strategy.ts"
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from "./admissionregistration/webhooks/strategy.ts"
import { apiServices } from "./apiregistration/apiservices/strategy.ts"
import { controllerRevisions } from "./apps/controllerrevisions/strategy.ts"
import { daemonSets } from "./apps/daemonsets/strategy.ts"
import { deployments } from "./apps/deployments/strategy.ts"
import { replicaSets } from "./apps/replicasets/strategy.ts"
import { statefulSets } from "./apps/statefulsets/strategy.ts"
import { selfSubjectReviews } from "./authentication/self-subject-review.ts"
import { tokenReviews } from "./authentication/token-review.ts"
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  subjectAccessReviews,
} from "./authorization/access-reviews.ts"
import { selfSubjectRulesReviews } from "./authorization/rules-review.ts"
import { horizontalPodAutoscalers } from "./autoscaling/horizontalpodautoscalers/strategy.ts"
import { cronJobs } from "./batch/cronjobs/strategy.ts"
import { jobs } from "./batch/jobs/strategy.ts"
import { certificateSigningRequests } from "./certificates/certificatesigningrequests/strategy.ts"
import { leases } from "./coordination/leases/strategy.ts"
import { componentStatuses } from "./core/componentstatuses/find.ts"
import { configMaps } from "./core/configmaps/strategy.ts"
import { endpoints } from "./core/endpoints/strategy.ts"
import { events } from "./core/events/strategy.ts"
import { limitRanges } from "./core/limitranges/strategy.ts"
import { namespaces } from "./core/namespaces/strategy.ts"
import { nodes } from "./core/nodes/strategy.ts"
import { persistentVolumeClaims } from "./core/persistentvolumeclaims/strategy.ts"
import { persistentVolumes } from "./core/persistentvolumes/strategy.ts"
import { bindings } from "./core/pods/binding.ts"
import { pods } from "./core/pods/index.ts"
import { podTemplates } from "./core/podtemplates/strategy.ts"
import { replicationControllers } from "./core/replicationcontrollers/strategy.ts"
import { resourceQuotas } from "./core/resourcequotas/strategy.ts"
import { secrets } from "./core/secrets/strategy.ts"
import { serviceAccounts } from "./core/serviceaccounts/strategy.ts"
import { services } from "./core/services/strategy.ts"
import { endpointSlices } from "./discovery/endpointslices/strategy.ts"
import { flowSchemas } from "./flowcontrol/flowschemas/strategy.ts"
import { priorityLevelConfigurations } from "./flowcontrol/prioritylevelconfigurations/strategy.ts"
import { ingressClasses } from "./networking/ingressclasses/strategy.ts"
import { ingresses } from "./networking/ingresses/strategy.ts"
import { ipAddresses } from "./networking/ipaddresses/strategy.ts"
import { networkPolicies } from "./networking/networkpolicies/strategy.ts"
import { serviceCIDRs } from "./networking/servicecidrs/strategy.ts"
import { runtimeClasses } from "./node/runtimeclasses/strategy.ts"
import { podDisruptionBudgets } from "./policy/poddisruptionbudgets/strategy.ts"
import { clusterRoleBindings, roleBindings } from "./rbac/bindings/strategy.ts"
import { clusterRoles, roles } from "./rbac/roles/strategy.ts"
import { resourceClaims, resourceClaimTemplates } from "./resource/claims.ts"
import { deviceClasses } from "./resource/device-classes.ts"
import { resourceSlices } from "./resource/slices.ts"
import { priorityClasses } from "./scheduling/priorityclasses/strategy.ts"
import { volumeAttachments } from "./storage/csi/attachments.ts"
import { csiStorageCapacities } from "./storage/csi/capacities.ts"
import { csiDrivers } from "./storage/csi/drivers.ts"
import { csiNodes } from "./storage/csi/nodes.ts"
import { storageClasses } from "./storage/storageclasses/strategy.ts"
import { volumeAttributesClasses } from "./storage/volumeattributesclasses/strategy.ts"
import type { KindExtension } from "./strategy.ts"

export const kinds: Readonly<Record<string, KindExtension>> = dictionary({
  "/bindings": bindings,
  "/componentstatuses": componentStatuses,
  "/configmaps": configMaps,
  "/endpoints": endpoints,
  "/events": events,
  "/limitranges": limitRanges,
  "/namespaces": namespaces,
  "/nodes": nodes,
  "/persistentvolumeclaims": persistentVolumeClaims,
  "/persistentvolumes": persistentVolumes,
  "/pods": pods,
  "/podtemplates": podTemplates,
  "/replicationcontrollers": replicationControllers,
  "/resourcequotas": resourceQuotas,
  "/secrets": secrets,
  "/serviceaccounts": serviceAccounts,
  "/services": services,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": mutatingAdmissionPolicies,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": mutatingAdmissionPolicyBindings,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": mutatingWebhookConfigurations,
  "admissionregistration.k8s.io/validatingadmissionpolicies": validatingAdmissionPolicies,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": validatingAdmissionPolicyBindings,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": validatingWebhookConfigurations,
  "apiextensions.k8s.io/customresourcedefinitions": customResourceDefinitions,
  "apiregistration.k8s.io/apiservices": apiServices,
  "apps/controllerrevisions": controllerRevisions,
  "apps/daemonsets": daemonSets,
  "apps/deployments": deployments,
  "apps/replicasets": replicaSets,
  "apps/statefulsets": statefulSets,
  "authentication.k8s.io/selfsubjectreviews": selfSubjectReviews,
  "authentication.k8s.io/tokenreviews": tokenReviews,
  "authorization.k8s.io/localsubjectaccessreviews": localSubjectAccessReviews,
  "authorization.k8s.io/selfsubjectaccessreviews": selfSubjectAccessReviews,
  "authorization.k8s.io/selfsubjectrulesreviews": selfSubjectRulesReviews,
  "authorization.k8s.io/subjectaccessreviews": subjectAccessReviews,
  "autoscaling/horizontalpodautoscalers": horizontalPodAutoscalers,
  "batch/cronjobs": cronJobs,
  "batch/jobs": jobs,
  "certificates.k8s.io/certificatesigningrequests": certificateSigningRequests,
  "coordination.k8s.io/leases": leases,
  "discovery.k8s.io/endpointslices": endpointSlices,
  "events.k8s.io/events": events,
  "flowcontrol.apiserver.k8s.io/flowschemas": flowSchemas,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": priorityLevelConfigurations,
  "networking.k8s.io/ingressclasses": ingressClasses,
  "networking.k8s.io/ingresses": ingresses,
  "networking.k8s.io/ipaddresses": ipAddresses,
  "networking.k8s.io/networkpolicies": networkPolicies,
  "networking.k8s.io/servicecidrs": serviceCIDRs,
  "node.k8s.io/runtimeclasses": runtimeClasses,
  "policy/poddisruptionbudgets": podDisruptionBudgets,
  "rbac.authorization.k8s.io/clusterrolebindings": clusterRoleBindings,
  "rbac.authorization.k8s.io/clusterroles": clusterRoles,
  "rbac.authorization.k8s.io/rolebindings": roleBindings,
  "rbac.authorization.k8s.io/roles": roles,
  "resource.k8s.io/deviceclasses": deviceClasses,
  "resource.k8s.io/resourceclaims": resourceClaims,
  "resource.k8s.io/resourceclaimtemplates": resourceClaimTemplates,
  "resource.k8s.io/resourceslices": resourceSlices,
  "scheduling.k8s.io/priorityclasses": priorityClasses,
  "storage.k8s.io/csidrivers": csiDrivers,
  "storage.k8s.io/csinodes": csiNodes,
  "storage.k8s.io/csistoragecapacities": csiStorageCapacities,
  "storage.k8s.io/storageclasses": storageClasses,
  "storage.k8s.io/volumeattachments": volumeAttachments,
  "storage.k8s.io/volumeattributesclasses": volumeAttributesClasses,
})
