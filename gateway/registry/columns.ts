// The columns of `kubectl get` for each built-in kind, by "group/resource"; kinds without an entry show name and creation time.
// Source of names, types and priorities: k8s.io/kubernetes/pkg/printers/internalversion.

import { dictionary } from "../../apimachinery/dictionary.ts"
import type { TableColumn } from "./columns/table-column.ts"
import * as cluster from "./columns/cluster.ts"
import { createdAt, name } from "./columns/column.ts"
import * as devices from "./columns/devices.ts"
import * as networking from "./columns/networking.ts"
import { podColumns } from "./columns/pods.ts"
import * as policies from "./columns/policies.ts"
import * as served from "./columns/served.ts"
import * as storage from "./columns/storage.ts"
import * as workloads from "./columns/workloads.ts"

const columns: Readonly<Record<string, readonly TableColumn[]>> = dictionary({
  "/componentstatuses": cluster.componentStatusColumns,
  "/configmaps": cluster.configMapColumns,
  "/endpoints": networking.endpointsColumns,
  "/events": cluster.eventColumns,
  "/namespaces": cluster.namespaceColumns,
  "/nodes": cluster.nodeColumns,
  "/persistentvolumeclaims": storage.persistentVolumeClaimColumns,
  "/persistentvolumes": storage.persistentVolumeColumns,
  "/pods": podColumns,
  "/podtemplates": workloads.podTemplateColumns,
  "/replicationcontrollers": workloads.replicationControllerColumns,
  "/resourcequotas": cluster.resourceQuotaColumns,
  "/secrets": cluster.secretColumns,
  "/serviceaccounts": cluster.serviceAccountColumns,
  "/services": networking.serviceColumns,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": policies.mutatingPolicyColumns,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": policies.policyBindingColumns,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": policies.webhookColumns,
  "admissionregistration.k8s.io/validatingadmissionpolicies": policies.validatingPolicyColumns,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": policies.policyBindingColumns,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": policies.webhookColumns,
  "apiregistration.k8s.io/apiservices": served.apiServiceColumns,
  "apps/controllerrevisions": workloads.controllerRevisionColumns,
  "apps/daemonsets": workloads.daemonSetColumns,
  "apps/deployments": workloads.deploymentColumns,
  "apps/replicasets": workloads.replicaSetColumns,
  "apps/statefulsets": workloads.statefulSetColumns,
  "autoscaling/horizontalpodautoscalers": policies.horizontalPodAutoscalerColumns,
  "batch/cronjobs": workloads.cronJobColumns,
  "batch/jobs": workloads.jobColumns,
  "certificates.k8s.io/certificatesigningrequests": policies.certificateSigningRequestColumns,
  "coordination.k8s.io/leases": cluster.leaseColumns,
  "discovery.k8s.io/endpointslices": networking.endpointSliceColumns,
  "events.k8s.io/events": cluster.eventColumns,
  "flowcontrol.apiserver.k8s.io/flowschemas": policies.flowSchemaColumns,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": policies.priorityLevelColumns,
  "networking.k8s.io/ingressclasses": networking.ingressClassColumns,
  "networking.k8s.io/ingresses": networking.ingressColumns,
  "networking.k8s.io/ipaddresses": networking.ipAddressColumns,
  "networking.k8s.io/networkpolicies": networking.networkPolicyColumns,
  "networking.k8s.io/servicecidrs": networking.serviceCIDRColumns,
  "node.k8s.io/runtimeclasses": cluster.runtimeClassColumns,
  "policy/poddisruptionbudgets": policies.podDisruptionBudgetColumns,
  "rbac.authorization.k8s.io/clusterrolebindings": policies.bindingColumns,
  "rbac.authorization.k8s.io/rolebindings": policies.bindingColumns,
  "resource.k8s.io/deviceclasses": devices.deviceKindColumns,
  "resource.k8s.io/resourceclaims": devices.resourceClaimColumns,
  "resource.k8s.io/resourceclaimtemplates": devices.deviceKindColumns,
  "resource.k8s.io/resourceslices": devices.resourceSliceColumns,
  "scheduling.k8s.io/priorityclasses": cluster.priorityClassColumns,
  "storage.k8s.io/csidrivers": storage.csiDriverColumns,
  "storage.k8s.io/csinodes": storage.csiNodeColumns,
  "storage.k8s.io/storageclasses": storage.storageClassColumns,
  "storage.k8s.io/volumeattachments": storage.volumeAttachmentColumns,
  "storage.k8s.io/volumeattributesclasses": storage.volumeAttributesClassColumns,
})

/** The columns of kinds without an entry. */
export const defaultColumns: readonly TableColumn[] = [name, createdAt]

/** The name column comes first and is included. */
export function columnsOf(group: string, resource: string): readonly TableColumn[] {
  return columns[`${group}/${resource}`] ?? defaultColumns
}
