// Kinds in versions that kube-apiserver can decode, but does not serve: retired ones, and those that are off by default. Source:
// k8s.io/api/*/*/register.go, k8s.io/apiextensions-apiserver, k8s.io/kube-aggregator.

import { dictionary } from "../dictionary.ts"
import { parseGroupVersion } from "../object.ts"

const kinds: Readonly<Record<string, string>> = dictionary({
  "admissionregistration.k8s.io/v1alpha1":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/v1beta1":
    "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
  "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
  "apiregistration.k8s.io/v1beta1": "APIService",
  "apps/v1beta1": "ControllerRevision Deployment DeploymentRollback Scale StatefulSet",
  "apps/v1beta2": "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
  "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
  "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
  "authorization.k8s.io/v1beta1":
    "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
  "batch/v1beta1": "CronJob",
  "certificates.k8s.io/v1alpha1": "ClusterTrustBundle",
  "certificates.k8s.io/v1beta1": "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
  "coordination.k8s.io/v1alpha2": "LeaseCandidate",
  "coordination.k8s.io/v1beta1": "Lease LeaseCandidate",
  "discovery.k8s.io/v1beta1": "EndpointSlice",
  "events.k8s.io/v1beta1": "Event",
  "extensions/v1beta1": "DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale",
  "flowcontrol.apiserver.k8s.io/v1beta1": "FlowSchema PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta2": "FlowSchema PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta3": "FlowSchema PriorityLevelConfiguration",
  "imagepolicy.k8s.io/v1alpha1": "ImageReview",
  "internal.apiserver.k8s.io/v1alpha1": "StorageVersion",
  "networking.k8s.io/v1beta1": "IPAddress Ingress IngressClass ServiceCIDR",
  "node.k8s.io/v1alpha1": "RuntimeClass",
  "node.k8s.io/v1beta1": "RuntimeClass",
  "policy/v1beta1": "Eviction PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1alpha1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "rbac.authorization.k8s.io/v1beta1": "ClusterRole ClusterRoleBinding Role RoleBinding",
  "resource.k8s.io/v1alpha3": "DeviceTaintRule ResourcePoolStatusRequest",
  "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
  "resource.k8s.io/v1beta2": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
  "scheduling.k8s.io/v1alpha2": "PodGroup Workload",
  "scheduling.k8s.io/v1beta1": "PriorityClass",
  "storage.k8s.io/v1alpha1": "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
  "storage.k8s.io/v1beta1": "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
  "storagemigration.k8s.io/v1beta1": "StorageVersionMigration",
})

export function isUnserved(apiVersion: string, kind: string): boolean {
  return kinds[apiVersion]?.split(" ").includes(kind) === true
}

/** The versions of a group that have such kinds. */
export function unservedVersions(group: string): string[] {
  return Object.keys(kinds).flatMap((apiVersion) => {
    const { group: one, version } = parseGroupVersion(apiVersion)
    return one === group ? [version] : []
  })
}

/** Of those, the ones that read fields of the served version of their kind otherwise. */
const unlike: Readonly<Record<string, string>> = dictionary({
  "admissionregistration.k8s.io/v1beta1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
  "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
  "discovery.k8s.io/v1beta1": "EndpointSlice",
  "extensions/v1beta1": "DaemonSet Ingress",
  "flowcontrol.apiserver.k8s.io/v1beta1": "PriorityLevelConfiguration",
  "flowcontrol.apiserver.k8s.io/v1beta2": "PriorityLevelConfiguration",
  "networking.k8s.io/v1beta1": "Ingress",
  "node.k8s.io/v1alpha1": "RuntimeClass",
  "policy/v1beta1": "PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1alpha1": "ClusterRoleBinding RoleBinding",
  "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
})

/** Groups whose kinds are served in others now. */
const formerGroups: Readonly<Record<string, readonly string[]>> = dictionary({
  extensions: ["networking.k8s.io", "apps"],
})

/** Whether an object of this unserved version has the fields of the served version of the group. Its defaults may be others. */
export function isAlikeWhenServed(apiVersion: string, kind: string, servedGroup: string): boolean {
  const [group = ""] = apiVersion.split("/")
  const isOfGroup = group === servedGroup || formerGroups[group]?.includes(servedGroup) === true
  return isOfGroup && isUnserved(apiVersion, kind) && unlike[apiVersion]?.split(" ").includes(kind) !== true
}
